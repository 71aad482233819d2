// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the calls of a communicator cost: how late each rank enters them, and how long they take.
#pragma once

#include <string>
#include <vector>

#include "inspect/job.hpp"

namespace tutti::inspect {

std::string percent(double share);  // "12 %"

// The demand that rank 0 has noted; null: none, or rank 0 is on another host.
const Demand* demand_of(const CommunicatorSnapshot& snapshot);

// How much later a rank is than the others, in the calls that are known.
struct Lateness {
  int place = 0;          // among the ranks of the snapshot
  int calls = 0;          // calls that it entered last
  int64_t late_ns = 0;    // time behind the one in the middle of the others, over these calls
  int64_t inside_ns = 0;  // share of late_ns in which it was still in the call before
  int64_t since_ns = 0;   // time of the first of these calls, since 1970
  double share = 0;       // of the time that the calls span
};
struct Costs {
  int calls = 0;        // calls that all ranks have entered
  double in_calls = 0;  // share of the time, for the rank that was last in each
  // Share of in_calls in calls whose algorithm is Demand::algorithm.
  double demanded = 0;
  std::vector<Lateness> ranks = {};  // lateness by place in the snapshot
};
Costs costs_of(const CommunicatorSnapshot& snapshot, const Job& job);

// Adds the calls that an earlier look at the same job has seen, and that are seen no more.
void remember(const Job& earlier, Job& job);

}  // namespace tutti::inspect
