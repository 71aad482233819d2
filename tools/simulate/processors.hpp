// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Cores that ranks share: what a rank does begins when one of them is free.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tutti::simulate {

class Processors {
 public:
  // Without cores nobody waits for any.
  explicit Processors(int cores) : free_s_(static_cast<size_t>(cores)) {}

  // When work is done that could begin at `from`. It takes the core that was busy last among those
  // that are free by then, so that holes stay for others.
  double done(double from, double takes) {
    if (free_s_.empty() || takes <= 0) return from + takes;
    auto core = free_s_.begin();
    for (auto other = core + 1; other != free_s_.end(); ++other) {
      const bool both_free = *core <= from && *other <= from;
      if (both_free ? *other > *core : *other < *core) core = other;
    }
    *core = std::max(*core, from) + takes;
    return *core;
  }

 private:
  std::vector<double> free_s_;
};

}  // namespace tutti::simulate
