// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The rates at which the ranks of a communicator make calls, and who keeps whom waiting. They
// follow from the numbers of calls between two looks, and from the stamps of the last calls.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "inspect/job.hpp"

namespace tutti::inspect {

struct RankRates {
  int rank = 0;
  uint64_t calls = 0;  // so far
  double calls_per_s = 0;
  double bytes_per_s = 0;  // bytes of blocks per second, as the last calls were
  double in_calls = 0;     // share of the time
  double waiting = 0;      // share of the time in which a peer had not entered the call yet
  double last_in = 0;      // share of the calls that this rank entered last
  int awaits = -1;         // the rank that it has waited for the longest; -1: none
  double waits_now_s = 0;  // length of its present wait; 0: it does not wait
  // A rank that costs the job much (inspect/slow.hpp): the share of the time by which it enters its
  // calls later than the others; why in a word that programs compare, and in words.
  double late = 0;
  std::string_view cause = {};
  std::string because = {};
};

// The rates of every rank, in the order of the snapshot; `before` is the same communicator
// `seconds` ago.
std::vector<RankRates> rates_of(const CommunicatorSnapshot& before, const CommunicatorSnapshot& now,
                                double seconds, const Job& job);
// The rank that the others have waited for the most; null: nobody has waited.
const RankRates* slowest_of(const std::vector<RankRates>& rates);

}  // namespace tutti::inspect
