// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A simulated call as Chakra execution traces (MLCommons; Sridharan et al., "Chakra: Advancing
// Performance Benchmarking and Co-design using Standardized Execution Traces", 2023), which
// ASTRA-sim reads: a file of protocol-buffer messages for each rank.
#pragma once

#include <string>
#include <vector>

#include "tools/simulate/operations.hpp"

namespace tutti::simulate {

// The bytes of one rank's trace. A node's identifier is its operation's index. Chakra knows
// durations in whole microseconds, so a computing node tells its nanoseconds as `num_ops`, too. A
// node that may begin once a message is being sent depends on what that message depends on: Chakra
// knows only nodes that have ended.
std::string chakra_of(const std::vector<Operation>& operations, int rank);

}  // namespace tutti::simulate
