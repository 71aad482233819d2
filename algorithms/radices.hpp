// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The radix of each phase, for algorithms whose phases exchange with several ranks at once. After
// Jocksch et al., "An optimisation of allreduce communication in message-passing systems", Parallel
// Computing 107, 2021. A phase of radix r has r - 1 messages each way, and each starts while the
// one before is on its way. Between hosts that takes r/2 alpha (messages_s, cost.hpp). So three
// ranks meet in one phase of 1.5 alpha; radix 2 needs two of one alpha each.
#pragma once

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

namespace tutti {

// Radices of 2 and 3 whose product is at least `ranks`, the largest first. They have the least sum,
// and among these the fewest messages. None for one rank.
inline std::vector<int> radices_over(int ranks) {
  std::vector<int> best(static_cast<size_t>(std::bit_width(static_cast<unsigned>(ranks - 1))), 2);
  for (int twos = 0; twos <= 2; ++twos) {
    std::vector<int> radices;
    for (int reached = 1 << twos; reached < ranks; reached *= 3) radices.push_back(3);
    radices.insert(radices.end(), static_cast<size_t>(twos), 2);
    const auto sum = [](const std::vector<int>& of) {
      return std::accumulate(of.begin(), of.end(), 0);
    };
    if (sum(radices) < sum(best)) best = radices;
  }
  return best;
}

// Calls `visit(reached, messages)` for each phase of an algorithm on any number of ranks. The data
// of so many ranks has met before it; messages come from the ranks `reached`, 2 * reached, ...
// away.
template <typename Visit>
void for_each_phase(int ranks, Visit visit) {
  int reached = 1;
  for (const int radix : radices_over(ranks)) {
    visit(reached, std::min(radix, (ranks + reached - 1) / reached) - 1);
    reached *= radix;
  }
}

// The prime factors of `ranks` in rising order if there are none but 2, 3 and 5, else none. (With 7
// ranks, folding to four takes no longer.)
inline std::vector<int> radices_of(int ranks) {
  std::vector<int> radices;
  for (const int prime : {2, 3, 5}) {
    for (; ranks % prime == 0; ranks /= prime) radices.push_back(prime);
  }
  return ranks == 1 ? radices : std::vector<int>{};
}

}  // namespace tutti
