// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The schedules of calls that devices run, made once for each kind of call.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "exec/plan.hpp"
#include "select/device_figures.hpp"
#include "views/shares.hpp"

namespace tutti {

struct DirectPlan {
  PlanKey key;
  Schedule schedule;
  std::optional<Shares> shares;    // instead of the schedule, where ranks are on several hosts
  std::vector<int> reads_send_of;  // ranks whose buffers it reads
  std::vector<int> reads_recv_of;
};

// Of one rank of so many, on these hosts if they are on several; one thread at a time.
class DirectPlans {
 public:
  DirectPlans(int rank, int ranks, const Hosts* hosts, const DeviceFigures& figures)
      : rank_(rank), ranks_(ranks), hosts_(hosts), figures_(figures) {}
  // Null if no schedule runs on devices alone: the same on all ranks.
  std::shared_ptr<const DirectPlan> find(const Call& call);

 private:
  const int rank_;
  const int ranks_;
  const Hosts* const hosts_;
  const DeviceFigures figures_;
  std::deque<std::shared_ptr<const DirectPlan>> plans_;  // the last made first
};

// Whether calls of this kind run on devices of one host, if these reach all buffers; the same on
// all ranks.
bool may_run_on_devices(const Call& call, int ranks);

}  // namespace tutti
