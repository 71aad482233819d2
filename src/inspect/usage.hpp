// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The use that the processes of a job on this host make of a while: processor time, waits for a
// core, limits of their control group, calls in which they sleep. All is read from /proc and the
// control groups.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "inspect/job.hpp"
#include "inspect/lines.hpp"

namespace tutti::inspect {

// Shares of the while, of the first thread of a process.
struct Usage {
  bool known = false;
  double runs = 0;       // on a core
  double delayed = 0;    // could run, and had none
  double stopped = 0;    // was stopped or frozen
  double throttled = 0;  // its control group had used up its quota
  double device = 0;     // waited in the system for a device, or for memory that is read from one
  double faults = 0;     // times a second that it waited for such memory
  // How often it was seen to wait in the system for what.
  std::array<int, static_cast<size_t>(kLastBlockedOn) + 1> blocked = {};
  int core = -1;   // where it ran last
  int cores = 0;   // that it may run on
  int beside = 0;  // the process that has used that core most, of others; 0: none is known
  std::string program = {};  // of that process
  double line_busy = 0;      // share of the time in which the line below had data on its way
  Line line = {};            // the busiest to another process, and what it has done
};

class Watch {
 public:
  // From now on.
  explicit Watch(const Job& job);
  // To be called now and then: what is seen is a sample.
  void sample();
  // Until now; by place among the job's processes.
  [[nodiscard]] std::vector<Usage> end() const;

 private:
  struct Counts {
    int64_t run_ns = 0;
    int64_t delay_ns = 0;
    int64_t throttled_ns = 0;
    int64_t faults = 0;
  };
  struct Watched {
    int pid = 0;  // 0: on another host
    Counts first = {};
    int samples = 0;
    int stopped = 0;
    int device = 0;
    Usage usage = {};
  };
  static Counts counts_of(int pid);
  [[nodiscard]] Usage usage_of(const Watched& one, double passed_ns,
                               const std::map<int, ProcessState>& now, const Lines& lines) const;

  int64_t begun_ns_;
  std::vector<Watched> all_;
  std::map<int, ProcessState> first_;  // of all processes of the host
  Lines first_lines_;
};

}  // namespace tutti::inspect
