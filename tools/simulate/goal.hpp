// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A simulated call in GOAL (Hoefler, Siebert & Lumsdaine, Group Operation Assembly Language, ICPP
// 2009), the text that LogGOPSim and ATLAHS read.
#pragma once

#include <string>
#include <vector>

#include "tools/simulate/operations.hpp"

namespace tutti::simulate {

// The operations of all ranks, which operations_of() gave.
std::string goal_of(const std::vector<std::vector<Operation>>& ranks);

}  // namespace tutti::simulate
