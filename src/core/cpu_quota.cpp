// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The processor time that control groups allow this process. A limit may stand at any level between
// the process's own group and the root, and the smallest share counts. In a container the path in
// /proc/self/cgroup is often the host's, of which only an ancestor is visible: files that are
// missing are normal.
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/topology.hpp"

namespace tutti {
namespace {

using Quota = std::optional<double>;

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

// Adds what limits a group, once.
void add(const std::string& group, Quota quota, std::vector<CpuLimit>& limits) {
  struct stat folder {};
  if (!quota || stat(group.c_str(), &folder) != 0) return;
  const CpuLimit limit{folder.st_dev, folder.st_ino, *quota};
  if (std::ranges::find(limits, limit) == limits.end()) limits.push_back(limit);
}

// The limits from mount + path up to mount itself.
template <typename QuotaOf>
void add_along(const std::string& mount, std::string path, QuotaOf quota_at,
               std::vector<CpuLimit>& limits) {
  add(mount, quota_at(mount), limits);
  while (path.size() > 1) {
    add(mount + path, quota_at(mount + path), limits);
    path.resize(path.rfind('/'));
  }
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

std::vector<CpuLimit> cpu_limits(const std::string& root) {
  const std::string mounts = root + "/sys/fs/cgroup";
  std::ifstream groups(root + "/proc/self/cgroup");
  std::vector<CpuLimit> limits;
  // Lines are "4:cpu,cpuacct:/path" (version 1) or "0::/path" (version 2).
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos || second + 1 >= line.size() || line[second + 1] != '/')
      continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      for (const char* mount : {"", "/unified"}) add_along(mounts + mount, path, quota_v2, limits);
    } else if (names_cpu(controllers)) {
      for (const char* mount : {"/cpu", "/cpu,cpuacct"}) {
        add_along(mounts + mount, path, quota_v1, limits);
      }
    }
  }
  return limits;
}

std::optional<double> cpu_quota(const std::string& root) {
  const std::vector<CpuLimit> limits = cpu_limits(root);
  if (limits.empty()) return std::nullopt;
  return std::ranges::min(limits, {}, &CpuLimit::cores).cores;
}

}  // namespace tutti
