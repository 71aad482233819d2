// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/shm/ways.hpp"

#include <gtest/gtest.h>

namespace tutti::shm {
namespace {

using Way = Ways::Way;

constexpr uint64_t kBytes = 100'000;

// How many of so many messages are read where they lie, if each way takes so many seconds.
int reads_of(Ways& ways, int messages, double read, double ring, uint64_t bytes = kBytes) {
  int reads = 0;
  for (int i = 0; i < messages; ++i) {
    const Way way = ways.better(bytes);
    reads += way == Way::kRead ? 1 : 0;
    ways.took(way, bytes, way == Way::kRead ? read : ring);
  }
  return reads;
}

TEST(Ways, TheFasterIsTakenAndTheOtherTriedNowAndThen) {
  Ways read_is_faster;
  const int reads = reads_of(read_is_faster, 10'000, 1e-6, 2e-6);
  EXPECT_GT(reads, 9'800);
  EXPECT_LT(reads, 10'000 - 10);
  Ways ring_is_faster;
  const int others = reads_of(ring_is_faster, 10'000, 2e-6, 1e-6);
  EXPECT_LT(others, 200);
  EXPECT_GT(others, 10);
}

TEST(Ways, TheSlowerTheOtherTheMoreSeldomItIsTried) {
  Ways a_little;
  Ways a_lot;
  EXPECT_LT(reads_of(a_lot, 10'000, 1e-4, 1e-6), reads_of(a_little, 10'000, 1.5e-6, 1e-6) / 2);
}

TEST(Ways, AChangeIsFoundOut) {
  Ways ways;
  reads_of(ways, 1000, 2e-6, 1e-6);
  EXPECT_EQ(ways.better(kBytes), Way::kRing);
  reads_of(ways, 20, 2e-6, 10e-6);  // the way that is taken has become slower
  EXPECT_EQ(ways.better(kBytes), Way::kRead);
  EXPECT_LT(reads_of(ways, 5000, 2e-6, 1e-6), 2500);  // and fast again
  EXPECT_EQ(ways.better(kBytes), Way::kRing);
}

TEST(Ways, OneThatWasHeldUpChangesNothing) {
  Ways ways;
  reads_of(ways, 10, 2e-6, 1e-6);
  ASSERT_EQ(ways.better(kBytes), Way::kRing);
  ways.took(Way::kRing, kBytes, 1);
  EXPECT_EQ(ways.better(kBytes), Way::kRing);
}

TEST(Ways, SizesAreKnownEachByItself) {
  Ways ways;
  reads_of(ways, 100, 2e-6, 1e-6, 100'000);
  reads_of(ways, 100, 1e-6, 2e-6, 1'000'000);
  EXPECT_EQ(ways.better(1'000'000), Way::kRead);
  EXPECT_FALSE(Ways::includes(ways.need_not_ask(), 1'000'000));
  while (ways.better(100'000) != Way::kRing) reads_of(ways, 1, 2e-6, 1e-6);
  EXPECT_TRUE(Ways::includes(ways.need_not_ask(), 100'000));
  EXPECT_TRUE(Ways::includes(ways.need_not_ask(), 70'000)) << "of the same power of two";
  EXPECT_FALSE(Ways::includes(ways.need_not_ask(), 50'000)) << "not known";
  EXPECT_FALSE(Ways::includes(ways.need_not_ask(), ~uint64_t{0}));
}

TEST(Ways, LongMessagesMayGoPastTheCaches) {
  constexpr uint64_t kLong = 5 << 20;
  Ways ways;
  const auto seconds = [](Way way) {
    return way == Way::kRead ? 3e-3 : way == Way::kRing ? 2e-3 : 1e-3;
  };
  int past = 0;
  for (int i = 0; i < 100; ++i) {
    const Way way = ways.better(kLong);
    past += way == Way::kRingPastCaches ? 1 : 0;
    ways.took(way, kLong, seconds(way));
    EXPECT_NE(ways.better(kBytes), Way::kRingPastCaches);
    ways.took(ways.better(kBytes), kBytes, 1e-6);
  }
  EXPECT_GT(past, 80);
  EXPECT_TRUE(Ways::includes(ways.by_ring(), kLong));
  ways.give_up_reading();
  EXPECT_NE(ways.better(kLong), Way::kRead);
  EXPECT_NE(ways.better_by_ring(kLong), Way::kRead);
}

TEST(Ways, ThereMayBeOnlyOne) {
  Ways ways;
  ways.give_up_reading();
  EXPECT_FALSE(Ways::includes(ways.need_not_ask(), kBytes)) << "no message has come yet";
  EXPECT_EQ(reads_of(ways, 1000, 1e-9, 1), 0);
  EXPECT_TRUE(Ways::includes(ways.need_not_ask(), kBytes));
}

TEST(Received, CountsUntilBothHaveGone) {
  const Received ring{Way::kRing, kBytes, 10, 11};
  EXPECT_DOUBLE_EQ(ring.seconds(11), 1);
  EXPECT_DOUBLE_EQ(ring.seconds(11.75), 1.75);
  EXPECT_DOUBLE_EQ(ring.seconds(20), 2) << "the other waited for its receive";
}

TEST(Received, ShortReadsCountForMore) {
  const auto seconds = [](Way way, uint64_t bytes) {
    return Received{way, bytes, 10, 11}.seconds(11);
  };
  EXPECT_GT(seconds(Way::kRead, 64 << 10), seconds(Way::kRing, 64 << 10));
  EXPECT_DOUBLE_EQ(seconds(Way::kRead, 1 << 20), seconds(Way::kRing, 1 << 20));
}

}  // namespace
}  // namespace tutti::shm
