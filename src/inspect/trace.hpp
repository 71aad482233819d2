// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The last calls of all ranks of a host as a trace for Perfetto or chrome://tracing. It has a
// process for each rank, a track for each communicator, and within calls the steps, if they are
// traced. Times are those of the host's clock, in microseconds since 1970. So traces of several
// hosts, or of a profiler, can be laid side by side.
#pragma once

#include <string>
#include <vector>

#include "exec/step_trace.hpp"
#include "inspect/snapshot.hpp"

namespace tutti::inspect {

// When a call began and ended on one rank, in ns since 1970.
struct CallSpan {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  // The source of the end. The rank has measured it, or it follows from when the last rank entered
  // or this one went on. It is open if the rank is still in the call.
  enum class End { kMeasured, kEstimated, kOpen } end = End::kEstimated;
};
// When past[index] of a rank began and ended. A call without a stamp has no length.
CallSpan span_of(const CommunicatorSnapshot& snapshot, const RankSnapshot& rank, size_t index,
                 const StampClock& clock, int64_t now_ns);

// The steps of a worker of this process within the calls of its rank.
struct StepsOf {
  int rank = 0;
  std::vector<TracedStep> steps = {};
};
struct TracedCommunicator {
  CommunicatorSnapshot snapshot;
  std::vector<StepsOf> workers = {};
};

// The whole file, of communicators that were looked at up to that moment; of one process's ranks,
// or of all (0).
std::string trace_of(const std::vector<TracedCommunicator>& communicators, const Moment& now,
                     int pid = 0);

}  // namespace tutti::inspect
