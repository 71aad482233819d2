// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "algorithms/pat.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

constexpr int kRanks[] = {2, 3, 4, 5, 7, 8, 13, 16, 33, 64, 100, 1000};

TEST(Pat, BringsEveryBlockToEachDepthOnceFromOneThatHasIt) {
  for (const int ranks : kRanks) {
    for (const uint64_t bytes : {0U, 8U, 5000U, 20'000U, 128U << 10}) {
      std::vector<bool> has(static_cast<size_t>(ranks), false);
      has[0] = true;
      for (const PatRound& round : Pat(ranks, bytes).all()) {
        const std::vector<bool> before = has;
        for (const int depth : round.depths) {
          EXPECT_TRUE(before[static_cast<size_t>(depth - round.distance)]);
          EXPECT_FALSE(has[static_cast<size_t>(depth)]) << ranks << " ranks, depth " << depth;
          has[static_cast<size_t>(depth)] = true;
        }
      }
      EXPECT_EQ(std::ranges::count(has, false), 0) << ranks << " ranks of " << bytes;
    }
  }
}

TEST(Pat, TakesFewRoundsForShortBlocksAndOneForEachLongOne) {
  for (const int ranks : kRanks) {
    EXPECT_EQ(Pat(ranks, 8).rounds(), rounds_of(ranks)) << ranks;
    EXPECT_EQ(Pat(ranks, kSegmentBytes).rounds(), ranks - 1) << ranks;
    for (const uint64_t bytes : {8U, 5000U, 20'000U, 128U << 10}) {
      const Pat pat(ranks, bytes);
      const std::vector<PatRound> rounds = pat.all();
      EXPECT_EQ(static_cast<int>(rounds.size()), pat.rounds()) << ranks << " ranks of " << bytes;
      for (const PatRound& round : rounds) EXPECT_FALSE(round.depths.empty());
      EXPECT_LE(pat.most(), pat.aggregated());
      EXPECT_TRUE(pat.aggregated() == 1 ||
                  static_cast<uint64_t>(pat.aggregated()) * bytes <= kSegmentBytes);
    }
  }
}

// What private memory a reduction needs does not grow with the number of ranks, but for its levels.
TEST(Pat, ReducesInBoundedMemory) {
  const Algorithm* pat = find_algorithm(Collective::kReduceScatter, "pat");
  ASSERT_NE(pat, nullptr);
  Problem problem;
  problem.collective = Collective::kReduceScatter;
  for (const uint64_t bytes : {1U << 10, 16U << 10, 1U << 20}) {
    for (const int ranks : {8, 64, 256}) {
      problem.ranks = ranks;
      problem.count = problem.stride = bytes;
      const Schedule schedule = build_schedule(*pat, problem);
      EXPECT_LE(schedule.scratch_bytes,
                static_cast<uint64_t>(kSegmentPlaces * (rounds_of(ranks) + 3)) * kSegmentBytes)
          << ranks << " ranks of " << bytes;
    }
  }
}

}  // namespace
}  // namespace tutti
