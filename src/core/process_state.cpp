// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/process_state.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <sstream>

namespace tutti {

ProcessState process_state_in(std::string stat) {
  // Behind the program's name, which may contain anything.
  const size_t end_of_name = stat.rfind(") ");
  if (end_of_name == std::string::npos) return {};
  std::istringstream fields(stat.substr(end_of_name + 2));
  ProcessState state;
  fields >> state.letter;
  // The 3rd field is the state, the 14th and 15th are the times, the 22nd is the start.
  std::string skipped;
  for (int field = 4; field < 14; ++field) fields >> skipped;
  uint64_t user = 0;
  uint64_t system = 0;
  fields >> user >> system;
  for (int field = 16; field < 22; ++field) fields >> skipped;
  fields >> state.started;
  if (!fields) return {};
  state.cpu_ticks = user + system;
  return state;
}

ProcessState process_state(int pid) {
  if (pid <= 0) return {};
  const std::string folder = fmt::format("/proc/{}", pid);
  std::ifstream file(folder + "/stat");
  std::string text;
  if (std::getline(file, text)) return process_state_in(std::move(text));
  struct stat info {};
  // Nor where nothing is to be seen of any process.
  const bool missing = stat(folder.c_str(), &info) != 0 && errno == ENOENT;
  return {.gone = missing && stat("/proc/self", &info) == 0};
}

std::string to_string(const ProcessState& state) {
  if (state.dead()) return "is dead";
  switch (state.letter) {
    case 'R': return "is running (state R)";
    case 'S': return "is sleeping (state S)";
    case 'D': return "waits for a device or a file system (state D)";
    case 'T': return "is stopped (state T)";
    case 't': return "is held by a debugger (state t)";
    case 0: return "";
    default: return fmt::format("is in state {}", state.letter);
  }
}

}  // namespace tutti
