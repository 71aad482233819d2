// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "adapt/store_policy.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

constexpr uint32_t kMemory = 360;
constexpr uint32_t kNear = 100;
constexpr uint32_t kFar = 350;
constexpr int kEnough = 5;
constexpr uint64_t kLong = 8 << 20;  // bytes that are staged in a call

class Staged : public testing::Test {
 protected:
  static StorePolicy policy_of(int ranks, StoreTarget setting = StoreTarget::kAuto) {
    return {0, ranks, setting, kMemory};
  }
  static void saw(StorePolicy& policy, int peer, uint32_t cycles) {
    for (int i = 0; i < kEnough; ++i) policy.saw_load(peer, cycles);
  }
};

TEST_F(Staged, StaysInTheCachesUntilPeersAreKnownToBeFar) {
  StorePolicy policy = policy_of(2);
  EXPECT_FALSE(policy.writes_non_temporal());
  saw(policy, 1, kFar);
  EXPECT_TRUE(policy.writes_non_temporal());
}

TEST_F(Staged, ComesBackWhenAPeerHasMovedNear) {
  StorePolicy policy = policy_of(2);
  saw(policy, 1, kFar);
  saw(policy, 1, kNear);
  EXPECT_FALSE(policy.writes_non_temporal());
}

TEST_F(Staged, IsWrittenForMostOfThePeersThatAreKnown) {
  StorePolicy policy = policy_of(4);
  saw(policy, 1, kFar);
  EXPECT_TRUE(policy.writes_non_temporal());
  saw(policy, 2, kNear);
  EXPECT_FALSE(policy.writes_non_temporal()) << "half of them";
  saw(policy, 3, kFar);
  EXPECT_TRUE(policy.writes_non_temporal());
}

TEST_F(Staged, FollowsASettingWithoutLooking) {
  for (const StoreTarget setting : {StoreTarget::kCache, StoreTarget::kMemory}) {
    StorePolicy policy = policy_of(2, setting);
    EXPECT_EQ(policy.writes_non_temporal(), setting == StoreTarget::kMemory);
    for (uint32_t call = 1; call < 100; ++call) {
      policy.start(call, kLong);
      EXPECT_FALSE(policy.probes());
      policy.note_awaited(1, false);
      EXPECT_FALSE(policy.watches(1));
    }
  }
}

TEST_F(Staged, NothingIsLookedAtWhereNothingIsStagedOrNobodyElseIsThere) {
  StorePolicy nothing = policy_of(2);
  nothing.start(1, 0);
  EXPECT_FALSE(nothing.probes());
  StorePolicy alone = policy_of(1);
  alone.start(1, kLong);
  EXPECT_FALSE(alone.probes());
}

TEST_F(Staged, TicksAreWatchedOfThePeerThatALongCallWaitsFor) {
  StorePolicy policy = policy_of(3);
  policy.start(1, kLong);
  EXPECT_FALSE(policy.watches(2));
  policy.note_awaited(2, false);
  EXPECT_TRUE(policy.watches(2));
  EXPECT_FALSE(policy.watches(1));
  policy.note_awaited(2, true);
  EXPECT_FALSE(policy.watches(2));
  policy.start(2, 64);
  policy.note_awaited(2, false);
  EXPECT_FALSE(policy.watches(2)) << "a short one";
}

TEST_F(Staged, ACallLooksOnceAtMost) {
  StorePolicy policy = policy_of(2);
  const int line = 0;
  policy.start(1, 64);
  ASSERT_TRUE(policy.probes_peer(1));
  policy.probe(&line, 1);
  EXPECT_FALSE(policy.probes());
}

}  // namespace
}  // namespace tutti
