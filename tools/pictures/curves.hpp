// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A plot of times over sizes or ranks as an SVG picture, both axes logarithmic.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tutti {

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;  // x and seconds, both > 0
};

struct Labels {
  std::string title;
  std::string x;  // what it is
  std::string (*number)(uint64_t x);
};

// Curves without points are left out.
std::string draw_curves(const Labels& labels, std::vector<Curve> curves);

}  // namespace tutti
