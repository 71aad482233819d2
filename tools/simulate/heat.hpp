// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A picture of how busy the links of a network were, as SVG.
#pragma once

#include <string>

#include "tools/simulate/report.hpp"

namespace tutti::simulate {

// A cell per link, a row or more per kind: the redder, the longer it carried something.
std::string draw_heat(const Network& network, const Outcome& outcome, const std::string& title);

}  // namespace tutti::simulate
