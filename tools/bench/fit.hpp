// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti tune: the figures of the cost model that fit measured times best, and what choosing by
// them costs. Every cost formula is a sum of figures, each times what an algorithm does of it.
#pragma once

#include <span>
#include <vector>

#include "algorithms/algorithm.hpp"

namespace tutti::tune {

// One kind of call, and the times of the algorithms that competed for it.
struct Cell {
  struct Entry {
    const tutti::Algorithm* algorithm = nullptr;
    double seconds = 0;
  };
  tutti::Problem problem;
  int cores = 1;  // cores that its ranks shared
  std::vector<Entry> entries;
};

// Least squares of the logarithms: what counts is by which factor a prediction is wrong. Figures
// that the cells say little about stay near the usual ones, and none leaves them by more than 8
// times.
tutti::Machine fit_machine(std::span<const Cell> cells, const tutti::Machine& usual,
                           uint64_t second_level_bytes);

// The time of the algorithm chosen by the cost model over that of the fastest.
struct Regret {
  double mean = 1;  // geometric
  double worst = 1;
};
Regret regret_of(std::span<const Cell> cells, const tutti::Machine& machine);
// The regret for cells that were not measured: those of each collective, with figures fitted to the
// cells of all others.
Regret regret_of_fits(std::span<const Cell> cells, const tutti::Machine& usual,
                      uint64_t second_level_bytes);

}  // namespace tutti::tune
