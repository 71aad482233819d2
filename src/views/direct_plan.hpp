// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The schedules of calls that devices run, made once for each kind of call.
#pragma once

#include <deque>
#include <memory>

#include "exec/plan.hpp"

namespace tutti {

struct DirectPlan {
  PlanKey key;
  Schedule schedule;
  std::vector<int> reads_send_of;  // ranks whose buffers it reads
  std::vector<int> reads_recv_of;
};

// Of one rank of so many; one thread at a time.
class DirectPlans {
 public:
  DirectPlans(int rank, int ranks) : rank_(rank), ranks_(ranks) {}
  // Null if no schedule runs on devices alone: the same on all ranks.
  std::shared_ptr<const DirectPlan> find(const Call& call);

 private:
  const int rank_;
  const int ranks_;
  std::deque<std::shared_ptr<const DirectPlan>> plans_;  // the last made first
};

// Whether calls of this kind run on devices, if these reach all buffers; the same on all ranks.
bool may_run_on_devices(const Call& call, int ranks);

}  // namespace tutti
