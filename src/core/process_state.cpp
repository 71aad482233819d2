// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/process_state.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <string_view>

#include "core/control_groups.hpp"
#include "core/files.hpp"
#include "core/folder.hpp"

namespace tutti {
namespace {

bool has_line(const std::string& path, std::string_view wanted) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line == wanted) return true;
  }
  return false;
}

// Control groups are looked for where they are usually mounted: version 2 alone, or beside those of
// version 1.
bool is_frozen(const std::string& folder) {
  for (const ControlGroup& group : control_groups_in(folder + "/cgroup")) {
    if (group.is_version_2()) {
      for (const char* mount : {"", "/unified"}) {
        const std::string events =
            fmt::format("{}{}{}/cgroup.events", kControlGroupMounts, mount, group.path);
        if (has_line(events, "frozen 1")) return true;
      }
    } else if (group.has("freezer")) {
      const std::string state =
          fmt::format("{}/freezer{}/freezer.state", kControlGroupMounts, group.path);
      if (has_line(state, "FROZEN")) return true;
    }
  }
  return false;
}

// Where control groups are not to be seen, as in a container. Waits that can be interrupted are
// shown as S, unless the freezer holds them.
bool is_in_freezer(int pid, char letter) {
  const std::string where = text_in_file(fmt::format("/proc/{}/wchan", pid));
  if (where.starts_with("__refrigerator") || where.starts_with("do_freezer_trap")) return true;
  if (letter != 'D') return false;
  const BlockedOn blocked = blocked_on(pid);
  return blocked == BlockedOn::kTime || blocked == BlockedOn::kLock ||
         blocked == BlockedOn::kSignal;
}

// The state of the first thread that has not ended; Z if there is none.
char state_of_a_thread(const std::string& folder) {
  for (const int thread : numbers_in(folder + "/task")) {
    const ProcessState state =
        process_state_in(text_in_file(fmt::format("{}/task/{}/stat", folder, thread)));
    if (state.letter != 0 && !state.dead()) return state.letter;
  }
  return 'Z';
}

}  // namespace

ProcessState process_state_in(std::string_view stat) {
  // Behind the program's name, which may contain anything.
  const size_t end_of_name = stat.rfind(") ");
  if (end_of_name == std::string_view::npos) return {};
  std::istringstream fields(std::string(stat.substr(end_of_name + 2)));
  ProcessState state;
  fields >> state.letter;
  // The 3rd field is the state, the 4th the parent, the 5th its group and the 8th
  // that in the foreground of its terminal. The 9th has flags of the first thread. The 12th
  // counts major faults, the 14th and 15th are the times, the 22nd is the start. The 31st has the
  // signals that are pending for that thread, the 39th is the core.
  constexpr uint64_t kExiting = 0x4;
  constexpr uint64_t kKilled = uint64_t{1} << (SIGKILL - 1);
  fields >> state.parent;
  std::string skipped;
  int group = 0;
  int foreground = 0;
  fields >> group >> skipped >> skipped >> foreground;
  state.background = foreground > 0 && group != foreground;
  uint64_t flags = 0;
  fields >> flags;
  for (int field = 10; field < 12; ++field) fields >> skipped;
  fields >> state.major_faults >> skipped;
  uint64_t user = 0;
  uint64_t system = 0;
  fields >> user >> system;
  for (int field = 16; field < 22; ++field) fields >> skipped;
  fields >> state.started;
  if (!fields) return {};
  for (int field = 23; field < 31; ++field) fields >> skipped;
  uint64_t signals = 0;
  fields >> signals;
  state.ending = (flags & kExiting) != 0 || (signals & kKilled) != 0;
  state.cpu_ticks = user + system;
  for (int field = 32; field < 39; ++field) fields >> skipped;
  int core = 0;
  if (fields >> core) state.core = core;
  return state;
}

ProcessState process_stat(int pid) {
  return process_state_in(text_in_file(fmt::format("/proc/{}/stat", pid)));
}

ProcessState process_state(int pid) {
  if (pid <= 0) return {};
  const std::string folder = fmt::format("/proc/{}", pid);
  if (const std::string text = text_in_file(folder + "/stat"); !text.empty()) {
    ProcessState state = process_state_in(text);
    if (state.letter == 'Z') state.letter = state_of_a_thread(folder);
    if (state.letter == 'S' || state.letter == 'D') {
      state.frozen = is_frozen(folder) || is_in_freezer(pid, state.letter);
    }
    return state;
  }
  struct stat info {};
  // Nor where nothing is to be seen of any process.
  const bool missing = stat(folder.c_str(), &info) != 0 && errno == ENOENT;
  return {.gone = missing && stat("/proc/self", &info) == 0};
}

ProcessState process_state_and_wait(int pid) {
  ProcessState state = process_state(pid);
  if (state.letter == 'S' || state.letter == 'D') state.blocked = blocked_on(pid);
  return state;
}

std::string to_string(const ProcessState& state) {
  if (state.dead()) return "is dead";
  if (state.frozen) return fmt::format("is frozen with its control group (state {})", state.letter);
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
