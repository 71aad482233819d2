// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A plot of times over sizes as an SVG picture, both axes logarithmic.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tutti::bench {

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  // bytes and microseconds, both > 0
};

// Series without points are left out.
std::string plot_svg(const std::string& title, std::vector<Series> series);

}  // namespace tutti::bench
