// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/slot_plan.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

constexpr uint64_t kSetting = 256 << 10;

TEST(SlotPlan, FewRanksTakeNoMoreTogetherThanEightDo) {
  for (int ranks = 1; ranks <= 64; ++ranks) {
    const SlotPlan plan = SlotPlan::of(kSetting, ranks);
    EXPECT_GE(plan.slot_bytes, 2 * kSetting) << ranks;
    EXPECT_LE(plan.slot_bytes * static_cast<uint64_t>(std::min(ranks, 8)), 16 * kSetting) << ranks;
    EXPECT_EQ(plan.call_bytes, plan.slot_bytes / 4) << ranks;
    EXPECT_EQ(plan.longest_bytes(), plan.slot_bytes) << ranks;
    EXPECT_EQ(plan.moved_through_bytes(), plan.slot_bytes) << ranks;
  }
  EXPECT_EQ(SlotPlan::of(kSetting, 2).slot_bytes, 8 * kSetting);
}

TEST(SlotPlan, OnlyTwoRanksSwapASlot) {
  EXPECT_EQ(SlotPlan::of(kSetting, 2).swapped_bytes(2), 8 * kSetting);
  const SlotPlan of_three = SlotPlan::of(kSetting, 3);
  EXPECT_EQ(of_three.ping_pong_bytes, 0U);
  EXPECT_EQ(of_three.swapped_bytes(3), of_three.call_bytes);
}

TEST(SlotPlan, ThereAreNoneWithoutSharedMemory) {
  EXPECT_FALSE(SlotPlan().shared());
  EXPECT_EQ(SlotPlan().longest_bytes(), 0U);
  EXPECT_TRUE(SlotPlan::of(kSetting, 8).shared());
}

}  // namespace
}  // namespace tutti
