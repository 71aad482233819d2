// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Steps that a lane runs in one pass over memory.
#pragma once

#include "sched/schedule.hpp"

namespace tutti {

// Marks reductions of which the next step copies the result (Step::with_next), as where a rank puts
// its share both where peers read it and into its own buffer, and copies of which the next step
// copies the same source: a kernel writes both, instead of reading back what it has just written or
// reading twice. What the schedule does stays the same.
void merge_copies(const Problem& problem, Schedule& schedule);

}  // namespace tutti
