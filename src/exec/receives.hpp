// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How early the receives of a schedule can be posted. A message that finds its receive posted goes
// straight to its place. A long one then need not be asked for first, which takes a round trip. So
// a receive is posted as soon as no step before it uses the memory that it fills.
#pragma once

#include <cstdint>
#include <vector>

#include "sched/schedule.hpp"

namespace tutti {

struct ReceiveStep {
  uint32_t step;  // index of the receiving step
  uint32_t from;  // it may be posted once all steps before this one are complete
};

// The receives in the order of the steps. `from` never decreases, so they are posted in that order,
// too. `in_place`: the send and the receive buffer share memory.
std::vector<ReceiveStep> receives_of(const Schedule& schedule, bool in_place);

}  // namespace tutti
