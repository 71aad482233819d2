// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/ancestor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "core/files.hpp"
#include "core/process_state.hpp"

namespace tutti {
namespace {

// Looks in the environment that the process was started with. A process that may not be looked at
// belongs to another user, which no rank does.
bool started_with(int pid, const std::string& variable) {
  const std::string environment = '\0' + text_in_file(fmt::format("/proc/{}/environ", pid));
  return environment.find('\0' + variable + '=') != std::string::npos;
}

}  // namespace

std::string launching_process(const std::string& variable) {
  int pid = getppid();
  ProcessState state = process_stat(pid);
  while (state.parent > 0 && started_with(pid, variable)) {
    pid = state.parent;
    state = process_stat(pid);
  }
  return fmt::format("pid {} started at {}", pid, state.started);
}

}  // namespace tutti
