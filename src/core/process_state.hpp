// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The state of a process of this host, as the system tells it: running, sleeping, stopped or gone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/blocked.hpp"

namespace tutti {

struct ProcessState {
  // The letters of proc(5): R running, S sleeping, D in a wait that cannot be interrupted, T
  // stopped, t held by a debugger, Z dead. 0: there is no such process, or nothing is known of it.
  // If a process's first thread has ended before others, it is the state of one of these.
  char letter = 0;
  // Frozen with its control group, as by `docker pause` or `systemctl freeze`.
  bool frozen = false;
  bool gone = false;    // it is known that there is none
  bool ending = false;  // it has been killed, or has exited, and is not gone yet
  // Processor time of all threads, in clock ticks of sysconf(_SC_CLK_TCK).
  uint64_t cpu_ticks = 0;
  int64_t major_faults = 0;  // page faults for which it has waited for a device
  int parent = 0;
  // Whether it is in the background of its terminal: to read from that stops it.
  bool background = false;
  uint64_t started = 0;  // ticks since boot: tells it from a later one of the same number
  int core = -1;         // on which its first thread has run last; -1: not known
  // The process's wait in the system, if whoever looks has found that out, too.
  BlockedOn blocked = BlockedOn::kUnknown;

  [[nodiscard]] bool dead() const { return gone || letter == 'Z' || letter == 'X'; }
  [[nodiscard]] bool stopped() const { return letter == 'T' || letter == 't' || frozen; }
};

// The state of a process by its pid in this process's namespace; nothing is known of pid 0.
ProcessState process_state(int pid);
// The state of a process, and what it waits for.
ProcessState process_state_and_wait(int pid);
// What stands in /proc/PID/stat, whose text is given, or read: nothing is known of what cannot be.
ProcessState process_state_in(std::string_view stat);
ProcessState process_stat(int pid);
// "is stopped (state T)"; empty if nothing is known.
std::string to_string(const ProcessState& state);

}  // namespace tutti
