// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Problems on which the tests build every algorithm.
#pragma once

#include <functional>
#include <vector>

#include "algorithms/algorithm.hpp"

namespace tutti {

inline Limits shared_limits() {
  return {.slots = {.call_bytes = 32 << 10},
          .window_bytes = 1 << 20,
          .chunk_bytes = 256 << 10,
          .non_temporal_bytes = 8 << 20,
          .pulls = true};
}

// Calls `visit(algorithm, problem of rank 0)` for every algorithm, some numbers of ranks and sizes,
// with and without shared memory, wherever the algorithm applies.
inline void for_every_problem(const std::function<void(const Algorithm&, Problem)>& visit) {
  for (const Algorithm* algorithm : algorithms()) {
    for (const int ranks : {1, 2, 3, 4, 7, 8, 13, 64}) {
      for (const uint64_t count : {0UL, 1UL, 13UL, 100UL, 5000UL, 100'000UL, 3'000'001UL}) {
        for (const bool shared : {true, false}) {
          Problem problem;
          problem.collective = algorithm->collective;
          problem.ranks = ranks;
          problem.root = ranks / 2;
          problem.count = algorithm->collective == Collective::kBarrier ? 0 : count;
          problem.stride = problem.count + 3;
          problem.element_bytes = 4;
          if (shared) problem.limits = shared_limits();
          if (algorithm->applies(problem).yes) visit(*algorithm, problem);
        }
      }
    }
  }
}

}  // namespace tutti
