// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Costs of a job that gets on, for which no rank is to blame: a line that calls wait for, short
// calls behind long ones, an algorithm that a variable demands, or the calls themselves.
#pragma once

#include <optional>
#include <vector>

#include "inspect/costs.hpp"
#include "inspect/usage.hpp"
#include "inspect/verdict.hpp"

namespace tutti::inspect {

// From this share of the time on, calls are what a job waits for.
constexpr double kInCalls = 0.5;

// Each of these is empty where its cost is not found. `most` is the latest rank; `usages` are of
// the job's processes in these seconds.
std::optional<Finding> of_busy_line(const Job& job, const Communicator& communicator,
                                    const Costs& costs, const std::vector<Usage>& usages,
                                    double seconds);
std::optional<Finding> of_lossy_line(const Job& job, const Communicator& communicator,
                                     const Costs& costs, const std::vector<Usage>& usages,
                                     double seconds);
std::optional<Finding> of_demand(const Communicator& communicator, const Costs& costs,
                                 const Lateness& most);
std::optional<Finding> of_jam(const Communicator& communicator, const Costs& costs,
                              const Lateness& most, double seconds);
std::optional<Finding> of_long_calls(const Communicator& communicator, const Costs& costs);

}  // namespace tutti::inspect
