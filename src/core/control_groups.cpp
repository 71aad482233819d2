// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/control_groups.hpp"

#include <fstream>

namespace tutti {
namespace {

void add_along(const std::string& mount, std::string path, std::vector<std::string>& folders) {
  while (path.size() > 1) {
    folders.push_back(mount + path);
    path.resize(path.rfind('/'));
  }
  folders.push_back(mount);
}

}  // namespace

bool ControlGroup::has(std::string_view controller) const {
  std::string_view rest = controllers;
  for (;;) {
    const size_t comma = rest.find(',');
    if (rest.substr(0, comma) == controller) return true;
    if (comma == std::string_view::npos) return false;
    rest.remove_prefix(comma + 1);
  }
}

std::vector<std::string> ControlGroup::folders_for_cpu(const std::string& mounts) const {
  std::vector<std::string> folders;
  if (is_version_2()) {
    for (const char* mount : {"", "/unified"}) add_along(mounts + mount, path, folders);
  } else if (has("cpu")) {
    for (const char* mount : {"/cpu", "/cpu,cpuacct"}) add_along(mounts + mount, path, folders);
  }
  return folders;
}

std::vector<ControlGroup> control_groups_in(const std::string& file) {
  std::vector<ControlGroup> groups;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos || second + 1 >= line.size() || line[second + 1] != '/')
      continue;
    groups.push_back({line.substr(first + 1, second - first - 1), line.substr(second + 1)});
  }
  return groups;
}

}  // namespace tutti
