// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti tune: what follows from its measurements. Algorithms compete at some sizes; the winners
// become choices for ranges of sizes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "select/tuning.hpp"

namespace tutti_tune {

using tutti::Algorithm;
using tutti::Collective;
using tutti::TunedChoice;

// The index of the winner, of the times of each algorithm in each round. The first is the cost
// model's choice, which stays unless another is at least 5 % faster by the median and in most
// rounds: a change for noise would be no gain.
size_t winner_of(const std::vector<std::vector<double>>& seconds);

// What came of one kind of call on some ranks.
struct Contest {
  Collective collective = Collective::kBarrier;
  uint64_t bytes = 0;                        // of one block
  std::vector<const Algorithm*> algorithms;  // the cost model's choice first
  std::vector<std::vector<double>> seconds;  // of each, in each round; over all ranks
};
// As text and back; what is no such text is nothing.
std::string print_contests(const std::vector<Contest>& contests);
std::vector<Contest> parse_contests(const std::string& text);

struct Winner {
  uint64_t bytes = 0;
  const Algorithm* algorithm = nullptr;
};
// What the cost model would use.
using Predict = std::function<const Algorithm*(uint64_t bytes)>;

// From winners at ascending sizes to ranges. Where one algorithm takes over from another as the
// cost model says too, it takes over there; else halfway, on a logarithmic scale. The first range
// begins at 1 byte if 4 bytes were measured; the last has no end if all its blocks are 64 MiB or
// more.
struct Field {
  Collective collective = Collective::kBarrier;
  int ranks = 1;
  int cores = 1;
  int blocks = 1;  // that a call sends or receives
};
std::vector<TunedChoice> ranges_of(const Field& field, const std::vector<Winner>& winners,
                                   const Predict& predict);

// `fresh` in place of what `old` says about the same collective, ranks and cores; the rest stays.
std::vector<TunedChoice> merge_choices(std::vector<TunedChoice> old,
                                       const std::vector<TunedChoice>& fresh);

}  // namespace tutti_tune
