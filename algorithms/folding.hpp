// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Lets algorithms for powers of two run on any number of ranks. Each even one of the first 2 *
// surplus ranks works for itself and the odd one after it. The odd one gives its data before all
// else and gets the result after it.
#pragma once

#include <bit>

#include "algorithms/common.hpp"

namespace tutti {

class Folding {
 public:
  Folding(int rank, int ranks)
      : rank_(rank),
        workers_(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)))),
        surplus_(ranks - workers_) {}
  explicit Folding(const Problem& q) : Folding(q.rank, q.ranks) {}

  [[nodiscard]] bool folds() const { return rank_ < 2 * surplus_; }
  [[nodiscard]] bool works() const { return !folds() || rank_ % 2 == 0; }
  [[nodiscard]] int neighbour() const { return rank_ ^ 1; }
  [[nodiscard]] int workers() const { return workers_; }
  // The number of this rank among those that work, and the rank that has a number.
  [[nodiscard]] int number() const { return folds() ? rank_ / 2 : rank_ - surplus_; }
  [[nodiscard]] int rank_of(int number) const {
    return number < surplus_ ? 2 * number : number + surplus_;
  }

 private:
  int rank_;
  int workers_;
  int surplus_;
};

}  // namespace tutti
