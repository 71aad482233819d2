// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The control groups of a process, by its file /proc/PID/cgroup. In a container their paths are
// often the host's, of which only an ancestor is visible: files that are missing are normal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti {

struct ControlGroup {
  std::string controllers;  // "cpu,cpuacct", of version 1; empty for version 2
  std::string path;         // "/a/b"

  [[nodiscard]] bool is_version_2() const { return controllers.empty(); }
  [[nodiscard]] bool has(std::string_view controller) const;
  // The folders of the group and of those that it is in, the innermost first. Version 2, or the
  // controller "cpu" of version 1, is taken to be mounted below `mounts` as usual.
  [[nodiscard]] std::vector<std::string> folders_for_cpu(const std::string& mounts) const;
};

// `file` has lines "4:cpu,cpuacct:/path" (version 1) and "0::/path" (version 2).
std::vector<ControlGroup> control_groups_in(const std::string& file);

// Where the system mounts them.
inline constexpr const char* kControlGroupMounts = "/sys/fs/cgroup";

}  // namespace tutti
