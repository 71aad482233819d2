// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What algorithms may use of shared memory, as settings and the number of ranks have it.
#pragma once

#include "env/env.hpp"
#include "sched/problem.hpp"

namespace tutti {

// For so many ranks that share memory and so many cores.
Limits limits_of(const Environment& environment, int ranks, int cores);
// Limits::pull_readers where so many ranks share so many cores: 0, which is any number, where the
// cores bound it.
int readers_for(const Environment& environment, int ranks, int cores);
// Limits::pulls, where the system permits them.
bool pulls_for(const Environment& environment);

}  // namespace tutti
