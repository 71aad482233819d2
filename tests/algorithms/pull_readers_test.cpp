// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How many ranks can read one rank's buffer at the same time, by what their schedules wait for.
#include <gtest/gtest.h>

#include <algorithm>

#include "problems.hpp"

namespace tutti {
namespace {

Problem problem_of(Collective collective, int ranks, int root, int readers) {
  Problem problem;
  problem.collective = collective;
  problem.ranks = ranks;
  problem.root = root;
  problem.count = problem.stride = 100'000;
  problem.element_bytes = 4;
  problem.limits = shared_limits();
  problem.limits.pull_readers = readers;
  return problem;
}

// The most that pull at once if every pull takes as long, and all ranks begin together.
int most_at_once(const Algorithm& algorithm, Problem problem) {
  std::vector<int> begins(static_cast<size_t>(problem.ranks), 0);  // by distance from the root
  for (int turn = 1; turn < problem.ranks; ++turn) {
    problem.rank = (problem.root + turn) % problem.ranks;
    for (const Step& step : build_schedule(algorithm, problem).steps) {
      if (step.kind == StepKind::kPull) break;
      if (step.kind != StepKind::kAwait || step.tick < 2) continue;
      const int other = (step.peer - problem.root + problem.ranks) % problem.ranks;
      EXPECT_LT(other, turn) << "a circle";
      begins[static_cast<size_t>(turn)] =
          std::max(begins[static_cast<size_t>(turn)], begins[static_cast<size_t>(other)] + 1);
    }
  }
  int most = 0;
  for (int round = 0; round < problem.ranks; ++round) {
    const auto readers = std::count(begins.begin() + 1, begins.end(), round);
    most = std::max(most, static_cast<int>(readers));
  }
  return most;
}

TEST(PullReaders, AreNoMoreThanTheLimit) {
  for (const Collective collective : {Collective::kBroadcast, Collective::kScatter}) {
    const Algorithm& pull = *find_algorithm(collective, "pull");
    for (const int ranks : {2, 5, 6, 13, 64}) {
      for (const int root : {0, ranks / 2, ranks - 1}) {
        for (const int readers : {1, 3, 4, 100}) {
          EXPECT_EQ(most_at_once(pull, problem_of(collective, ranks, root, readers)),
                    std::min(readers, ranks - 1))
              << ranks << " ranks, root " << root;
        }
        EXPECT_EQ(most_at_once(pull, problem_of(collective, ranks, root, 0)), ranks - 1);
      }
    }
  }
}

// They lock nothing.
TEST(PullReaders, AreNotLimitedWhereAllSeeAllBuffers) {
  Problem problem = problem_of(Collective::kBroadcast, 13, 0, 4);
  problem.limits.maps_peers = true;
  EXPECT_EQ(most_at_once(*find_algorithm(Collective::kBroadcast, "pull"), problem), 12);
}

}  // namespace
}  // namespace tutti
