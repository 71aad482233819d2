// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The last steps that a worker has made and when, for traces (TUTTI_TRACE_LEVEL=steps). A lane that
// is not traced knows nothing of it.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "core/stamp.hpp"
#include "exec/rank_names.hpp"
#include "sched/schedule.hpp"

namespace tutti {

struct TracedStep {
  uint64_t sequence = 0;  // number of the call
  uint64_t begun = 0;     // stamps; a step begins where the one before has ended
  uint64_t ended = 0;
  uint64_t bytes = 0;
  int32_t peer = 0;  // peer's number in the communicator; kAllPeers: all
  StepKind kind = StepKind::kCopy;
};
// "await rank 2", "send 1024 bytes to rank 3", "reduce 64 bytes".
std::string describe(const TracedStep& step);

// One thread adds, any thread reads.
class StepTrace {
 public:
  StepTrace() { steps_.reserve(kMost); }
  // The step of a call on a lane of these ranks has ended now.
  void add(const Step& step, uint64_t sequence, const RankNames& names);
  // The call begins now, unless it is the one of the last step.
  void enter(uint64_t sequence);
  // The oldest first.
  [[nodiscard]] std::vector<TracedStep> steps() const;

 private:
  static constexpr size_t kMost = 8192;
  mutable std::mutex mutex_;
  std::vector<TracedStep> steps_;  // guarded by mutex_
  size_t oldest_ = 0;  // guarded by mutex_; index of the oldest step once the trace is full
  uint64_t call_ = 0;
  uint64_t since_ = 0;
};

}  // namespace tutti
