// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Finds the processes of this host that have mapped the memory of communicators, as /proc tells it.
// A user finds the user's own processes; root finds all.
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/process_state.hpp"
#include "inspect/source.hpp"

namespace tutti::inspect {

// A file, whatever it is called.
struct FileKey {
  uint64_t device = 0;
  uint64_t inode = 0;
  auto operator<=>(const FileKey&) const = default;
};

struct Process {
  int pid = 0;      // number as this process sees it
  int own_pid = 0;  // number as it calls itself, in the innermost pid namespace that it is in
  std::string program = {};
  std::string host = {};  // where, if that is not this one; then pid is as it calls itself
  ProcessState state = {};
  bool again = false;  // it has been looked at twice
  bool busy = false;   // processor time has moved since the first look
  uint64_t spent = 0;  // clock ticks of processor time since the first look
  // What it waited for in one of two looks that differ: rather not a lock, as calls may wait for.
  BlockedOn once = BlockedOn::kUnknown;
  // Mapped files that may be memory of a communicator.
  std::map<FileKey, std::vector<MappedRange>> files = {};

  // Takes the state of a second look. A wait says little if it was another one a moment ago.
  void take(ProcessState now) {
    again = true;
    busy = busy || now.cpu_ticks != state.cpu_ticks;
    spent += now.cpu_ticks > state.cpu_ticks ? now.cpu_ticks - state.cpu_ticks : 0;
    if (now.blocked != state.blocked) {
      const bool either = now.blocked == BlockedOn::kUnknown || now.blocked == BlockedOn::kLock;
      once = either && state.blocked != BlockedOn::kUnknown ? state.blocked : now.blocked;
      if (busy) now.blocked = BlockedOn::kUnknown;
    }
    state = now;
  }
};

// Whether there is such a process on this host, and this user may look at it.
bool may_look_at(int pid);
std::string program_of(int pid);
// The name of the file that it runs, "python3.11"; empty if that may not be known.
std::string executable_of(int pid);
// The processes with the pids in `among`; empty: all. Those that are gone or belong to others are
// left out.
std::vector<Process> find_processes(const std::vector<int>& among = {});
// The mapping in a line of /proc/PID/maps; false if its file cannot be memory of a communicator.
bool take_mapping(const std::string& line, FileKey& file, MappedRange& range);

// The memory behind a file, by way of one of these processes; null if none lets us look.
std::unique_ptr<Source> open_source(const FileKey& file, const std::vector<Process>& processes);

}  // namespace tutti::inspect
