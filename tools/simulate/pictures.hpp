// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Pictures of simulations, as SVG.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/simulate/report.hpp"

namespace tutti::simulate {

struct Curve {
  std::string name;
  std::vector<std::pair<int, double>> points;  // ranks, seconds
};
// Time over ranks, both by powers.
std::string draw_curves(const std::vector<Curve>& curves, const std::string& title);
// A cell per link, a row or more per kind: the redder, the longer it carried something.
std::string draw_heat(const Network& network, const Outcome& outcome, const std::string& title);

}  // namespace tutti::simulate
