// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The greatest cost of a job that gets on: a rank that comes late to its calls, and why, as far as
// the system tells; or the calls themselves.
#pragma once

#include <vector>

#include "inspect/costs.hpp"
#include "inspect/usage.hpp"
#include "inspect/verdict.hpp"

namespace tutti::inspect {

// What costs one communicator of such a job, as judge_slow() tells it.
std::vector<Finding> slow_findings(const Job& job, const Communicator& communicator,
                                   const std::vector<Usage>& usages, double seconds);
// A job that was looked at twice, so many seconds apart; `usages` are of its processes meanwhile.
Verdict judge_slow(const Job& job, const std::vector<Usage>& usages, double seconds);

}  // namespace tutti::inspect
