// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "adapt/distance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace tutti {
namespace {

constexpr uint32_t kMemory = 360;
constexpr uint32_t kNear = 100;
constexpr uint32_t kFar = 350;
constexpr int kEnough = 5;

// Calls that stage something may be every second or every eighth.
TEST(LookedAt, IsEveryPeerNowAndThenAndByOneRankInACall) {
  for (const int ranks : {2, 3, 4, 8, 64}) {
    const int calls = 64 * ranks;
    for (uint32_t every = 1; every <= 16; ++every) {
      std::vector<int> times(static_cast<size_t>(ranks));
      for (int i = 0; i < calls; ++i) {
        const uint32_t call = static_cast<uint32_t>(i) * every;
        std::vector<int> by(static_cast<size_t>(ranks));
        for (int rank = 0; rank < ranks; ++rank) {
          const int peer = probed_peer(call, rank, ranks);
          ASSERT_NE(peer, rank);
          ++by[static_cast<size_t>(peer)];
        }
        ASSERT_EQ(std::ranges::count(by, 1), ranks);
        ++times[static_cast<size_t>(probed_peer(call, 1, ranks))];
      }
      EXPECT_EQ(times[1], 0);
      times.erase(times.begin() + 1);
      EXPECT_GT(std::ranges::min(times), 16) << ranks << " ranks, every " << every;
    }
  }
}

class Looks : public testing::Test {
 protected:
  void probe(uint32_t cycles, int times = 1) {
    for (int i = 0; i < times; ++i) distance_.saw(cycles, ++mark_);
  }

  Distance distance_{kMemory};
  uint32_t mark_ = 0;
};

TEST_F(Looks, FewTellNothing) {
  probe(kFar, kEnough - 1);
  EXPECT_FALSE(distance_.far());
  EXPECT_EQ(distance_.cycles(), 0u);
  probe(kFar);
  EXPECT_TRUE(distance_.far());
}

TEST_F(Looks, AtNearPeersFindThemNear) {
  probe(kNear, 2 * kEnough);
  EXPECT_FALSE(distance_.far());
  EXPECT_EQ(distance_.cycles(), kNear);
}

TEST_F(Looks, AreBelievedWhenAPeerMovesThereAndBack) {
  probe(kNear, kEnough);
  probe(kFar, kEnough);
  EXPECT_TRUE(distance_.far());
  probe(kNear, kEnough);
  EXPECT_FALSE(distance_.far());
}

TEST_F(Looks, ThatWereInterruptedChangeNothing) {
  probe(kNear, kEnough);
  for (int i = 0; i < 20; ++i) {
    probe(100 * kFar);
    EXPECT_FALSE(distance_.far());
    probe(kNear, kEnough - 1);
  }
}

TEST_F(Looks, AtLinesThatHadBeenFetchedBeforeChangeNothing) {
  probe(kFar, kEnough);
  for (int i = 0; i < 20; ++i) {
    probe(kNear / 2, 3);
    EXPECT_TRUE(distance_.far());
    probe(kFar, 2);
  }
}

// As where ranks share a core, of which another has looked before.
TEST_F(Looks, AtLinesInOwnCachesTellNothing) {
  probe(kFar, kEnough);
  probe(kMemory / 5, 100);
  EXPECT_TRUE(distance_.far());
  probe(kNear, kEnough);
  EXPECT_FALSE(distance_.far());
}

TEST_F(Looks, AtALineThatHasNotBeenWrittenAgainDoNotCount) {
  probe(kFar, kEnough);
  for (int i = 0; i < 20; ++i) distance_.saw(1, mark_);
  EXPECT_TRUE(distance_.far());
}

TEST_F(Looks, AtALineThatIsKnownToBeNewCountWithoutAMark) {
  probe(kNear, kEnough);
  for (int i = 0; i < kEnough; ++i) distance_.saw_new(kFar);
  EXPECT_TRUE(distance_.far());
  probe(kNear, kEnough);
  EXPECT_FALSE(distance_.far());
}

TEST_F(Looks, AreDueAtEachCallUntilThereAreEnoughAndThenBySize) {
  for (int i = 0; i < kEnough; ++i) {
    EXPECT_TRUE(distance_.count_and_ask_if_due(4096));
    probe(kNear);
  }
  int due = 0;
  for (int i = 0; i < 64; ++i) due += distance_.count_and_ask_if_due(4096) ? 1 : 0;
  EXPECT_EQ(due, 2);
  EXPECT_TRUE(distance_.count_and_ask_if_due(1 << 20));
}

TEST(DistancesKnown, LeaveOutPeersThatWereNeverLookedAt) {
  std::vector<Distance> peers(4, Distance(kMemory));
  EXPECT_FALSE(DistancesKnown(peers).mostly_far());
  for (uint32_t mark = 1; mark < 20; ++mark) peers[2].saw(kFar, mark);
  EXPECT_EQ(DistancesKnown(peers).known, 1);
  EXPECT_TRUE(DistancesKnown(peers).mostly_far());
  for (uint32_t mark = 1; mark < 20; ++mark) peers[1].saw(kNear, mark);
  EXPECT_EQ(DistancesKnown(peers).known, 2);
  EXPECT_EQ(DistancesKnown(peers).far, 1);
  EXPECT_FALSE(DistancesKnown(peers).mostly_far());
}

TEST(Ticks, OfMemoryAreMoreThanOfACachedLine) {
  const uint32_t memory = memory_cycles();
  if (memory == 0) GTEST_SKIP() << "no clock for this on this processor";
  alignas(64) const std::byte line[64] = {};
  uint32_t least = UINT32_MAX;
  for (int i = 0; i < 100; ++i) least = std::min(least, load_cycles(line));
  EXPECT_GT(memory, least);
}

}  // namespace
}  // namespace tutti
