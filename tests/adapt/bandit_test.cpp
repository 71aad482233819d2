// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "adapt/bandit.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tutti {
namespace {

constexpr size_t kTrial = 4;

// How many of so many calls take the second arm, if each costs so much.
int second_of(Bandit& bandit, int calls, double first, double second) {
  int taken = 0;
  for (int i = 0; i < calls; ++i) {
    const Arm arm = bandit.better();
    taken += arm == Arm::kSecond ? 1 : 0;
    bandit.took(arm, arm == Arm::kFirst ? first : second);
  }
  return taken;
}

// The same for one who learns the cost of a call only after the next has been chosen: the longest
// and the shortest run of the second arm.
struct Runs {
  int shortest = 1 << 30;
  int longest = 0;
  int total = 0;
};
Runs runs_of_second(Bandit& bandit, int calls, double first, double second) {
  Runs runs;
  Arm running = Arm::kFirst;
  int run = 0;
  for (int i = 0; i < calls; ++i) {
    const Arm next = bandit.better();
    bandit.took(running, running == Arm::kFirst ? first : second);
    if (running == Arm::kSecond) ++run, ++runs.total;
    if (running == Arm::kSecond && next == Arm::kFirst) {
      runs.shortest = std::min(runs.shortest, run);
      runs.longest = std::max(runs.longest, run);
      run = 0;
    }
    running = next;
  }
  return runs;
}

TEST(Bandit, TriesLongCallsFewerTimes) {
  EXPECT_EQ(trial_calls(1), trial_calls(64 << 10));
  EXPECT_LT(trial_calls(64 << 20), trial_calls(64 << 10));
  EXPECT_GE(trial_calls(UINT64_MAX), 2U) << "the first call is often cold";
}

TEST(Bandit, TriesBothAndTakesTheFaster) {
  Bandit second_is_faster(2, kTrial);
  EXPECT_FALSE(second_is_faster.knows(Arm::kFirst));
  EXPECT_EQ(second_of(second_is_faster, 8, 2, 1), 4);
  EXPECT_TRUE(second_is_faster.knows(Arm::kFirst) && second_is_faster.knows(Arm::kSecond));
  EXPECT_EQ(second_of(second_is_faster, 8, 2, 1), 8);
  EXPECT_GT(second_of(second_is_faster, 2000, 2, 1), 1900);
  Bandit first_is_faster(2, kTrial);
  EXPECT_EQ(second_of(first_is_faster, 20, 1, 2), 4);
  EXPECT_LT(second_of(first_is_faster, 2000, 1, 2), 30);
}

TEST(Bandit, SpendsTheSameShareOfTheTimeOnAnySlowerArm) {
  constexpr int kCalls = 100'000;
  for (const double cost : {1.2, 2.0, 5.0}) {
    Bandit bandit(2, kTrial);
    second_of(bandit, kCalls / 10, 1, cost);
    const int tried = second_of(bandit, kCalls, 1, cost);
    EXPECT_GT(tried, 0) << cost;
    EXPECT_LT(tried * (cost - 1), 0.01 * kCalls) << cost;
  }
}

TEST(Bandit, ATrialThatBeginsBadlyIsNotDecidedByThat) {
  Bandit bandit(2, kTrial);
  second_of(bandit, 4, 2, 1);
  ASSERT_EQ(bandit.better(), Arm::kSecond);
  for (const double cost : {100, 1, 1, 1}) bandit.took(Arm::kSecond, cost);  // caches are cold
  EXPECT_EQ(bandit.better(), Arm::kSecond);
  EXPECT_EQ(bandit.cost(Arm::kSecond), 1);
}

TEST(Bandit, WhatIsFarBehindAndBeginsSoAgainIsLeftAtOnce) {
  Bandit bandit(2, kTrial);
  EXPECT_EQ(second_of(bandit, 20, 1, 6), 4) << "the first trial";
  EXPECT_EQ(second_of(bandit, 6000, 1, 6), 1) << "the next";
  EXPECT_GT(second_of(bandit, 12'000, 1, 0.5), 6000) << "it does not begin so again";
}

TEST(Bandit, OfTwoCallsTheBetterCounts) {
  Bandit bandit(2, 2);
  for (const double cost : {2, 2, 100, 1}) bandit.took(bandit.better(), cost);
  EXPECT_EQ(bandit.better(), Arm::kSecond);
}

TEST(Bandit, OneThatIsHardlySlowerIsNotTakenForAStepOfTheOther) {
  Bandit bandit(2, kTrial);
  for (int i = 0; i < 4; ++i) bandit.took(Arm::kFirst, 10);
  for (int i = 0; i < 4; ++i) bandit.took(Arm::kSecond, 10.9);
  for (int i = 0; i < 7; ++i) bandit.took(Arm::kFirst, i == 6 ? 10.2 : 10);
  EXPECT_EQ(bandit.better(), Arm::kFirst);
}

TEST(Bandit, ATrialThatWasDisturbedIsRepeated) {
  Bandit bandit(2, kTrial);
  second_of(bandit, 4, 1, 0);
  for (int i = 0; i < 4; ++i) bandit.took(Arm::kSecond, 100);
  ASSERT_EQ(bandit.better(), Arm::kFirst);
  EXPECT_GT(second_of(bandit, 12'000, 1, 0.5), 4000);
}

TEST(Bandit, FewThatAreHeldUpChangeNothing) {
  Bandit bandit(2, kTrial);
  second_of(bandit, 2000, 2, 1);
  while (bandit.better() == Arm::kSecond) bandit.took(Arm::kSecond, 1);
  second_of(bandit, 20, 2, 1);  // the first has just been tried again
  for (int i = 0; i < 5; ++i) bandit.took(Arm::kSecond, 1000);
  EXPECT_EQ(bandit.better(), Arm::kSecond);
}

TEST(Bandit, WhatHasBecomeSlowerIsLeftSoon) {
  Bandit bandit(2, kTrial);
  second_of(bandit, 20, 2, 1);
  EXPECT_LT(second_of(bandit, 100, 2, 8), 30);
}

TEST(Bandit, WhatHasBecomeFasterIsFoundOut) {
  Bandit bandit(2, kTrial);
  second_of(bandit, 1000, 1, 4);
  EXPECT_GT(second_of(bandit, 8000, 1, 0.5), 3000);
}

// A processor whose cores move apart and together again: docs/notes/05.
TEST(Bandit, FollowsCostsThatChangePlaces) {
  Bandit bandit(2, kTrial);
  second_of(bandit, 1000, 1, 2.5);
  for (int turn = 0; turn < 4; ++turn) {
    EXPECT_GT(second_of(bandit, 5000, 2.5, 1), 4500) << "apart " << turn;
    EXPECT_LT(second_of(bandit, 5000, 1, 2.5), 500) << "together " << turn;
  }
}

TEST(Bandit, ThereMayBeThree) {
  constexpr double kCosts[] = {3, 2, 1};
  Bandit bandit(3, kTrial);
  std::vector<int> times(3);
  for (int i = 0; i < 2000; ++i) {
    const auto arm = static_cast<size_t>(bandit.better());
    ++times[arm];
    bandit.took(static_cast<Arm>(arm), kCosts[arm]);
  }
  EXPECT_GT(times[2], 1850);
  for (const int each : times) EXPECT_GE(each, 4);
}

TEST(Bandit, SomeMayBeLeftOut) {
  Bandit bandit(3, kTrial);
  EXPECT_EQ(bandit.better(Arm::kSecond), Arm::kSecond);
  for (int i = 0; i < 4; ++i) bandit.took(Arm::kSecond, 2);
  EXPECT_EQ(bandit.better(Arm::kSecond), Arm::kThird);
  for (int i = 0; i < 4; ++i) bandit.took(Arm::kThird, 3);
  EXPECT_EQ(bandit.better(Arm::kSecond), Arm::kSecond);
  EXPECT_EQ(bandit.better(), Arm::kFirst) << "not known";
}

TEST(Bandit, ChoicesThatAreMadeAheadStayForATrial) {
  Bandit bandit(2, kTrial);
  const Runs runs = runs_of_second(bandit, 50'000, 1, 1.5);
  EXPECT_EQ(runs.shortest, 5);
  EXPECT_EQ(runs.longest, 5);
  EXPECT_GT(runs.total, 100);
  EXPECT_LT(runs.total, 1000);
}

TEST(Bandit, EqualsDoNotStarveOneAnother) {
  Bandit bandit(2, kTrial);
  const Runs runs = runs_of_second(bandit, 10'000, 1, 1);
  EXPECT_GE(runs.shortest, 5);
  EXPECT_GT(runs.total, 4);
}

}  // namespace
}  // namespace tutti
