// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The processor time that control groups allow this process. A limit may stand at any level between
// the process's own group and the root, and the smallest share counts.
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/control_groups.hpp"
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

}  // namespace

std::vector<CpuLimit> cpu_limits(const std::string& root) {
  std::vector<CpuLimit> limits;
  for (const ControlGroup& group : control_groups_in(root + "/proc/self/cgroup")) {
    for (const std::string& folder : group.folders_for_cpu(root + kControlGroupMounts)) {
      add(folder, group.is_version_2() ? quota_v2(folder) : quota_v1(folder), limits);
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
