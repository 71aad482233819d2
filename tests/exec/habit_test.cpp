// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "exec/habit.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace tutti {
namespace {

void stay_away() { std::this_thread::sleep_for(std::chrono::microseconds(10 * Habit::kSoonUs)); }

// Even if the thread is held up now and then. Whether no worker is woken any more.
bool come_back_at_once(Habit& habit) {
  for (int i = 0; i < 100'000; ++i) {
    if (!habit.leaves()) return true;
    habit.comes();
  }
  return false;
}

TEST(Habit, NobodyIsWokenForWhoIsAlwaysBackAtOnce) {
  Habit habit;
  EXPECT_TRUE(habit.leaves());
  habit.comes();
  EXPECT_TRUE(habit.leaves());  // once is no habit
  habit.comes();
  EXPECT_TRUE(come_back_at_once(habit));
}

TEST(Habit, WhoStaysAwayHasAWorkerWokenEachTime) {
  Habit habit;
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(habit.leaves());
    stay_away();
    habit.comes();
  }
}

TEST(Habit, EndsWhenAWorkerFindsThatNobodyCame) {
  Habit habit;
  ASSERT_TRUE(come_back_at_once(habit));
  habit.stayed_away();
  EXPECT_TRUE(habit.leaves());
  habit.comes();
  EXPECT_TRUE(come_back_at_once(habit));
}

TEST(Habit, VisitsAreCountedWhateverTheHabit) {
  Habit habit;
  const uint32_t before = habit.visits();
  habit.comes();
  EXPECT_EQ(habit.visits(), before + 1);
  ASSERT_TRUE(come_back_at_once(habit));
  const uint32_t known = habit.visits();
  habit.comes();
  EXPECT_EQ(habit.visits(), known + 1);
}

}  // namespace
}  // namespace tutti
