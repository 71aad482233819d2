// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A simulated call for other simulators, in GOAL (Hoefler, Siebert & Lumsdaine, Group Operation
// Assembly Language, ICPP 2009), the text that LogGOPSim and ATLAHS read: of each rank what it
// computes, in nanoseconds, sends and receives, and which of these waits for which.
#pragma once

#include <string>

#include "tools/simulate/job.hpp"

namespace tutti::simulate {

// One call of the job. A tick in shared memory is a message of one byte to each rank that awaits
// it.
std::string goal_of(const Job& job);

}  // namespace tutti::simulate
