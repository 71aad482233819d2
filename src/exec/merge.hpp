// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Pairs of steps that a lane runs in one pass over memory.
#pragma once

#include "sched/problem.hpp"
#include "sched/schedule.hpp"

namespace tutti {

// Marks a reduction whose result the next step copies, and a copy whose source the next step
// copies, too (Step::with_next). So one kernel writes a rank's share both into staging and into its
// own buffer, instead of reading the data twice. The schedule has the same effect.
void merge_copies(const Problem& problem, Schedule& schedule);

}  // namespace tutti
