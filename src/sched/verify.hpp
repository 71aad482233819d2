// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The verifier: proves that the schedules of all ranks do together what the collective promises, by
// running them on symbols instead of numbers. One run in any order proves all orders. A step waits
// for one particular event only, so the order in which ranks happen to run changes nothing. The
// exception are two accesses to the same memory that are not ordered at all; they are looked for.
//
// Proved are:
//  - form: steps stay inside their buffers and write only what is theirs; ticks ascend from 1;
//  - messages: every send meets exactly one recv of the same size;
//  - progress: no deadlock, even if no send completes before its recv begins;
//  - order: whoever reads a peer's memory does so after the write and before the next (by vector
//    clocks; that a send completes is not taken as a sign that it was received), nobody writes its
//    window before all have entered the call, pulls from a peer before that has entered, or ends
//    before it knows that its buffers are pulled from no more;
//  - results: every byte of the receive buffers, from which ranks and in which association, is what
//    the collective asks for, the same on all ranks; nothing else is written.
#pragma once

#include <span>
#include <string_view>

#include "core/status.hpp"
#include "sched/problem.hpp"
#include "sched/schedule.hpp"

namespace tutti {

inline constexpr int kMostVerifiedRanks = 256;

// The claims of the schedules' maker.
struct Claim {
  std::string_view name;  // for error texts
  // Every element is reduced in one step over all ranks in rank order. (Two steps would round
  // 16-bit floats in between, hence give other bits.)
  bool rank_order = false;
};

// schedules[r] is what rank r does; problem.rank is not looked at. The error is a sentence that
// names the problem, the rank and the step:
//   "allreduce two_shot, 5 ranks, 80 x 4 B: rank 3 step 7 (await rank 2 tick 4) never ends: ..."
Status verify(std::span<const Schedule> schedules, const Problem& problem, const Claim& claim);
// Verifies the schedules of ranks whose buffers differ: problems[r] is that of rank r. The problems
// differ in rank, layouts and in_place only.
Status verify(std::span<const Schedule> schedules, std::span<const Problem> problems,
              const Claim& claim);

}  // namespace tutti
