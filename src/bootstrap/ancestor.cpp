// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/ancestor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>

namespace tutti {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Stat {
  int parent = 0;
  unsigned long long start = 0;  // clock ticks after boot
};

// /proc/PID/stat; the command's name in it may contain anything, so what counts starts after its
// closing parenthesis: state, parent, and the start time as the 20th field.
Stat stat_of(int pid) {
  const std::string text = read_file(fmt::format("/proc/{}/stat", pid));
  Stat stat;
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return stat;
  std::istringstream fields(text.substr(name_end + 1));
  std::string field;
  for (int i = 0; i < 20 && fields >> field; ++i) {
    if (i == 1) stat.parent = std::stoi(field);
    if (i == 19) stat.start = std::stoull(field);
  }
  return stat;
}

// In the environment that the process was started with. One that may not be looked at belongs to
// another user, which no rank does.
bool started_with(int pid, const std::string& variable) {
  const std::string environment = '\0' + read_file(fmt::format("/proc/{}/environ", pid));
  return environment.find('\0' + variable + '=') != std::string::npos;
}

}  // namespace

std::string launching_process(const std::string& variable) {
  int pid = getppid();
  Stat stat = stat_of(pid);
  while (stat.parent > 0 && started_with(pid, variable)) {
    pid = stat.parent;
    stat = stat_of(pid);
  }
  return fmt::format("pid {} started at {}", pid, stat.start);
}

}  // namespace tutti
