// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Why a rank is late in a job that gets on, as far as the system tells.
#pragma once

#include <vector>

#include "inspect/costs.hpp"
#include "inspect/usage.hpp"
#include "inspect/verdict.hpp"

namespace tutti::inspect {

// Below this share of the time a lack of cores is no cause.
constexpr double kLeastDelayedShare = 0.3;

// The job was looked at twice, so many seconds apart; `usages` are of its processes meanwhile.
Finding of_late_rank(const Job& job, const Communicator& communicator, const Costs& costs,
                     const Lateness& late, const std::vector<Usage>& usages, double seconds);

}  // namespace tutti::inspect
