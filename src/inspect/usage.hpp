// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the processes of a job on this host spend a period on: processor time, waits for a core, the
// limits of their control groups, calls in which they sleep. It is read from /proc and the control
// groups, at the period's begin and end and, for what has no counter, at samples between.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "inspect/job.hpp"
#include "inspect/lines.hpp"

namespace tutti::inspect {

// Figures of the first thread of a process: shares of the period, from 0 to 1, unless they say
// something else.
struct Usage {
  bool known = false;    // false: the process is on another host, or was never sampled
  double runs = 0;       // ran on a core
  double delayed = 0;    // could run, and had none
  double stopped = 0;    // was stopped, frozen or held by whoever traces it
  double traced = 0;     // time of `stopped` in which a tracer held it
  double throttled = 0;  // time in which its control group had used up its quota
  double device = 0;     // waited in the system for a device, or for memory that is read from one
  double faults = 0;     // how many times a second it waited for memory that is read from a device
  // The number of samples in which it waited in the system, by what it waited for: BlockedOn.
  std::array<int, static_cast<size_t>(kLastBlockedOn) + 1> blocked = {};
  int core = -1;             // the number of the core on which it ran last
  int cores = 0;             // how many cores it may run on
  int beside = 0;            // the other process that used that core most; 0: none is known
  std::string program = {};  // the name of the program of `beside`
  double line_busy = 0;      // share in which `line` had data on its way
  Line line = {};            // busiest connection, with what that has done in the period
};

// Measures one period. Used by one thread.
class Watch {
 public:
  // The period begins.
  explicit Watch(const Job& job);
  // Takes one sample. To be called some ten times a period or more, for shares are counted in
  // samples.
  void sample();
  // The period ends: one Usage for each of the job's processes, in their order.
  [[nodiscard]] std::vector<Usage> end() const;

 private:
  struct Counts {
    int64_t run_ns = 0;
    int64_t delay_ns = 0;
    int64_t throttled_ns = 0;
  };
  struct Watched {
    int pid = 0;  // 0: on another host
    Counts first = {};
    int samples = 0;
    int stopped = 0;
    int traced = 0;
    int device = 0;
    Usage usage = {};
  };
  static Counts counts_of(int pid);
  [[nodiscard]] Usage usage_of(const Watched& one, double passed_ns,
                               const std::map<int, ProcessState>& now, const Lines& lines) const;

  int64_t begun_ns_;
  std::vector<Watched> all_;
  std::map<int, ProcessState> first_;  // states of all processes of the host at the first look
  Lines first_lines_;
};

}  // namespace tutti::inspect
