// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What a process can find out about a machine by itself in a millisecond.
#pragma once

#include "algorithms/algorithm.hpp"
#include "env/env.hpp"

namespace tutti {

// The cost model's defaults, but for figures that differ much between machines and that take no
// peer that is awake at the same moment: what reading another process's memory costs, if the kernel
// and the environment allow it, and copies beyond the second-level cache. The least of several
// times, in steps of a fifth, so that measuring again seldom makes other choices. The defaults
// alone with TUTTI_MACHINE_MEASURE=0.
Machine measured_machine(const Environment& environment);

}  // namespace tutti
