// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The processor time that control groups allow this process. A limit may stand at any level between
// the process's own group and the root, and the smallest counts. In a container the path in
// /proc/self/cgroup is often the host's, of which only an ancestor is visible: files that are
// missing are normal.
#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/topology.hpp"

namespace tutti {
namespace {

using Quota = std::optional<double>;

Quota smaller(Quota a, Quota b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

Quota quota_of(double quota_us, double period_us) {
  if (quota_us <= 0 || period_us <= 0) return std::nullopt;
  return quota_us / period_us;
}

// Version 2: "max 100000", or "150000 100000".
Quota quota_v2(const std::string& group) {
  std::ifstream file(group + "/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max") return std::nullopt;
  double quota_us = 0;
  if (!(std::istringstream(quota) >> quota_us)) return std::nullopt;
  return quota_of(quota_us, period);
}

// Version 1: two files; a quota of -1 is none.
Quota quota_v1(const std::string& group) {
  double quota = 0;
  double period = 0;
  if (!(std::ifstream(group + "/cpu.cfs_quota_us") >> quota)) return std::nullopt;
  if (!(std::ifstream(group + "/cpu.cfs_period_us") >> period)) return std::nullopt;
  return quota_of(quota, period);
}

// The smallest quota from mount + path up to mount itself.
template <typename QuotaOf>
Quota quota_along(const std::string& mount, std::string path, QuotaOf quota_at) {
  Quota quota = quota_at(mount);
  while (path.size() > 1) {
    quota = smaller(quota, quota_at(mount + path));
    path.resize(path.rfind('/'));
  }
  return quota;
}

bool names_cpu(std::string_view controllers) {
  for (;;) {
    const size_t comma = controllers.find(',');
    if (controllers.substr(0, comma) == "cpu") return true;
    if (comma == std::string_view::npos) return false;
    controllers.remove_prefix(comma + 1);
  }
}

}  // namespace

std::optional<double> cpu_quota(const std::string& root) {
  const std::string mounts = root + "/sys/fs/cgroup";
  std::ifstream groups(root + "/proc/self/cgroup");
  Quota quota;
  // Lines are "4:cpu,cpuacct:/path" (version 1) or "0::/path" (version 2).
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos || second + 1 >= line.size() || line[second + 1] != '/')
      continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      for (const char* mount : {"", "/unified"}) {
        quota = smaller(quota, quota_along(mounts + mount, path, quota_v2));
      }
    } else if (names_cpu(controllers)) {
      for (const char* mount : {"/cpu", "/cpu,cpuacct"}) {
        quota = smaller(quota, quota_along(mounts + mount, path, quota_v1));
      }
    }
  }
  return quota;
}

}  // namespace tutti
