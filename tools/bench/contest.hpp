// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti tune: what follows from its measurements. Algorithms compete at some sizes; the winners
// become choices for ranges of sizes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "select/tuning.hpp"

namespace tutti::tune {

using tutti::Algorithm;
using tutti::Collective;
using tutti::TunedChoice;

// The index of the winner, of the times of each algorithm in each round. The first is the cost
// model's choice. Another replaces it if it is at least 5 % faster by the median, and faster in
// most rounds. A change for noise would be no gain.
size_t winner_of(const std::vector<std::vector<double>>& seconds);

// The outcome of one kind of call on some ranks.
struct Contest {
  Collective collective = Collective::kBarrier;
  uint64_t bytes = 0;                        // of one block
  std::vector<const Algorithm*> algorithms;  // the cost model's choice first
  // Seconds of each algorithm in each round, over all ranks.
  std::vector<std::vector<double>> seconds;
};
// Contests as text and back; other text gives none.
std::string print_contests(const std::vector<Contest>& contests);
std::vector<Contest> parse_contests(const std::string& text);

struct Winner {
  uint64_t bytes = 0;
  const Algorithm* algorithm = nullptr;
};
// The algorithm that the cost model would use.
using Predict = std::function<const Algorithm*(uint64_t bytes)>;

// Makes ranges from winners at ascending sizes. One algorithm takes over from another where the
// cost model says so, if it has that change, too. Else it does so halfway, on a logarithmic scale.
// The first range begins at 1 byte if 4 bytes were measured. The last has no end if all its blocks
// are 64 MiB or more.
struct Field {
  Collective collective = Collective::kBarrier;
  int ranks = 1;
  int cores = 1;
  int blocks = 1;  // blocks that a call sends or receives
};
std::vector<TunedChoice> ranges_of(const Field& field, const std::vector<Winner>& winners,
                                   const Predict& predict);

// `fresh` in place of what `old` says about the same collective, ranks and cores; the rest stays.
std::vector<TunedChoice> merge_choices(std::vector<TunedChoice> old,
                                       const std::vector<TunedChoice>& fresh);

}  // namespace tutti::tune
