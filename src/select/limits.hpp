// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The shared memory that algorithms may use, by settings and the number of ranks.
#pragma once

#include "env/job_variables.hpp"
#include "sched/problem.hpp"
#include "select/plan_inputs.hpp"

namespace tutti {

// The limits for so many ranks that share memory and so many cores, where the system permits pulls.
Limits limits_of(const JobVariables& variables, int ranks, int cores);
// The limits for the ranks of this host.
Limits limits_on_host(const PlanInputs& inputs);
// Limits::pulls, where the system permits them.
bool pulls_for(const JobVariables& variables);

}  // namespace tutti
