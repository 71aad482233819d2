// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "adapt/bandit.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

// How many of so many times the second is taken, if each costs so much.
int seconds_of(Bandit& bandit, int times, double first, double second) {
  int seconds = 0;
  for (int i = 0; i < times; ++i) {
    const Arm arm = bandit.better();
    seconds += arm == Arm::kSecond ? 1 : 0;
    bandit.took(arm, arm == Arm::kFirst ? first : second);
  }
  return seconds;
}

// The same for one who learns the cost of a time only after the next has been chosen. Gives the
// longest and the shortest run of the second.
struct Stretches {
  int shortest = 1 << 30;
  int longest = 0;
  int total = 0;
};
Stretches stretches_of_second(Bandit& bandit, int times, double first, double second) {
  Stretches stretches;
  Arm running = Arm::kFirst;
  int stretch = 0;
  for (int i = 0; i < times; ++i) {
    const Arm next = bandit.choose();
    bandit.took(running, running == Arm::kFirst ? first : second);
    if (running == Arm::kSecond) ++stretch, ++stretches.total;
    if (running == Arm::kSecond && next == Arm::kFirst) {
      stretches.shortest = std::min(stretches.shortest, stretch);
      stretches.longest = std::max(stretches.longest, stretch);
      stretch = 0;
    }
    running = next;
  }
  return stretches;
}

TEST(Bandit, BothAreTriedSomeTimesAndTheFasterIsTaken) {
  Bandit second_is_faster;
  EXPECT_FALSE(second_is_faster.knows(Arm::kFirst));
  EXPECT_EQ(seconds_of(second_is_faster, 6, 2, 1), 3);
  EXPECT_TRUE(second_is_faster.knows(Arm::kFirst) && second_is_faster.knows(Arm::kSecond));
  EXPECT_EQ(seconds_of(second_is_faster, 8, 2, 1), 8);
  EXPECT_GT(seconds_of(second_is_faster, 2000, 2, 1), 1970);
  Bandit first_is_faster;
  EXPECT_EQ(seconds_of(first_is_faster, 10, 1, 2), 3);
  EXPECT_LT(seconds_of(first_is_faster, 2000, 1, 2), 20);
}

TEST(Bandit, TheSlowerIsTriedAgainTheMoreSeldomTheSlowerItIs) {
  Bandit a_little;
  Bandit a_lot;
  const int often = seconds_of(a_little, 100'000, 1, 1.2);
  const int seldom = seconds_of(a_lot, 100'000, 1, 10);
  EXPECT_GT(seldom, 3);
  EXPECT_LT(seldom, 200);
  EXPECT_GT(often, 3 * seldom);
  EXPECT_LT(often, 3000);
}

TEST(Bandit, ATrialThatBeginsBadlyIsNotDecidedByThat) {
  Bandit bandit;
  seconds_of(bandit, 3, 2, 1);
  ASSERT_EQ(bandit.better(), Arm::kSecond);
  for (const double cost : {100, 1, 1, 1}) bandit.took(Arm::kSecond, cost);  // caches are cold
  EXPECT_EQ(bandit.better(), Arm::kSecond);
  EXPECT_EQ(bandit.cost(Arm::kSecond), 1);
}

TEST(Bandit, ATrialGoesOnWhileItGetsFaster) {
  Bandit bandit;
  for (const double cost : {3, 3, 3}) bandit.took(Arm::kFirst, cost);
  for (const double cost : {9, 8, 7, 5, 4, 2}) {
    bandit.took(Arm::kSecond, cost);
    EXPECT_FALSE(bandit.knows(Arm::kSecond)) << cost;
  }
  for (const double cost : {2, 2}) bandit.took(Arm::kSecond, cost);
  EXPECT_EQ(bandit.cost(Arm::kSecond), 2);
  EXPECT_EQ(bandit.better(), Arm::kSecond);
}

TEST(Bandit, OneThatIsHardlySlowerIsNotTakenForAStepOfTheOther) {
  Bandit bandit;
  for (const double cost : {10, 10, 10}) bandit.took(Arm::kFirst, cost);
  for (const double cost : {10.9, 10.9, 10.9}) bandit.took(Arm::kSecond, cost);
  for (const double cost : {10.0, 10.0, 10.0, 10.2}) bandit.took(Arm::kFirst, cost);
  EXPECT_GT(bandit.cost(Arm::kFirst), 10.5) << "a step";
  EXPECT_EQ(bandit.better(), Arm::kFirst);
  bandit.took(Arm::kFirst, 20);
  EXPECT_EQ(bandit.better(), Arm::kSecond) << "two steps";
}

TEST(Bandit, NoTrialGoesOnForever) {
  Bandit bandit;
  double cost = 1e9;
  int calls = 0;
  for (; !bandit.knows(Arm::kFirst) && calls < 100; ++calls) {
    bandit.took(Arm::kFirst, cost);
    cost /= 2;
  }
  EXPECT_LT(calls, 20);
}

TEST(Bandit, AFirstTrialInMemoryThatIsNewIsSoonRepeated) {
  Bandit bandit;
  seconds_of(bandit, 3, 1, 10);
  for (const double cost : {50, 4, 3, 3, 3}) bandit.took(Arm::kSecond, cost);
  ASSERT_EQ(bandit.better(), Arm::kFirst);
  EXPECT_GT(seconds_of(bandit, 300, 1, 0.5), 200);
}

TEST(Bandit, WhatIsFarBehindAndBeginsSoAgainIsLeftAtOnce) {
  Bandit far_behind;
  EXPECT_EQ(seconds_of(far_behind, 100, 1, 6), 3) << "the first trial";
  EXPECT_EQ(seconds_of(far_behind, 1000, 1, 6), 1) << "the next";
  Bandit not_far_behind;
  seconds_of(not_far_behind, 10, 1, 1.5);
  EXPECT_GE(seconds_of(not_far_behind, 300, 1, 1.5), 6);
  // But if it does not begin so again, it is tried to the end.
  EXPECT_GT(seconds_of(far_behind, 4000, 1, 0.5), 1500);
}

TEST(Bandit, FewThatAreHeldUpChangeNothing) {
  Bandit bandit;
  seconds_of(bandit, 2000, 2, 1);
  while (bandit.better() == Arm::kSecond) bandit.took(Arm::kSecond, 1);
  seconds_of(bandit, 10, 2, 1);  // the first has just been tried again
  for (int i = 0; i < 5; ++i) bandit.took(Arm::kSecond, 1000);
  EXPECT_EQ(bandit.better(), Arm::kSecond);
}

TEST(Bandit, WhatHasBecomeSlowerIsLeftSoon) {
  Bandit bandit;
  seconds_of(bandit, 10, 2, 1);
  EXPECT_LT(seconds_of(bandit, 100, 2, 8), 15);
}

TEST(Bandit, WhatHasBecomeFasterIsFoundOut) {
  Bandit bandit;
  seconds_of(bandit, 1000, 1, 4);
  EXPECT_LT(seconds_of(bandit, 100, 1, 4), 4);
  EXPECT_GT(seconds_of(bandit, 4000, 1, 0.5), 2000);
}

TEST(Bandit, WhatBeginsFarSlowerMayBeLeftAtOnce) {
  constexpr bool kLeavesAtOnce = true;
  Bandit bandit(2, kLeavesAtOnce);
  EXPECT_EQ(seconds_of(bandit, 10, 1, 1.5), 1);
  EXPECT_TRUE(bandit.knows(Arm::kSecond));
  EXPECT_EQ(bandit.cost(Arm::kSecond), 1.5);
  EXPECT_GT(seconds_of(bandit, 1000, 1, 0.5), 900) << "when it is tried again";
  Bandit a_little_slower(2, kLeavesAtOnce);
  EXPECT_EQ(seconds_of(a_little_slower, 10, 1, 1.1), 3);
  Bandit ahead(2, kLeavesAtOnce);
  const Stretches stretches = stretches_of_second(ahead, 50'000, 1, 1.5);
  EXPECT_EQ(stretches.longest, 2);
}

TEST(Bandit, WhatIsLeftAtOnceIsTriedMoreOften) {
  constexpr bool kLeavesAtOnce = true;
  Bandit left_at_once(2, kLeavesAtOnce);
  seconds_of(left_at_once, 10'000, 1, 1.5);
  EXPECT_GT(seconds_of(left_at_once, 500, 1, 0.5), 200) << "that it has become faster is found";
  Bandit tried_to_the_end;
  seconds_of(tried_to_the_end, 10'000, 1, 1.5);
  Bandit others(2, kLeavesAtOnce);
  seconds_of(others, 10'000, 1, 1.5);
  EXPECT_LT(seconds_of(others, 10'000, 1, 1.5), 2 * seconds_of(tried_to_the_end, 10'000, 1, 1.5));
}

TEST(Bandit, ThereMayBeThree) {
  constexpr double kCosts[] = {3, 2, 1};
  Bandit bandit(3);
  int times[3] = {};
  for (int i = 0; i < 2000; ++i) {
    const Arm arm = bandit.better();
    ++times[static_cast<size_t>(arm)];
    bandit.took(arm, kCosts[static_cast<size_t>(arm)]);
  }
  EXPECT_GT(times[2], 1900);
  EXPECT_GE(times[1], 3);
  EXPECT_GE(times[0], 3);
}

TEST(Bandit, SomeMayBeLeftOut) {
  Bandit bandit(3);
  EXPECT_EQ(bandit.better(Arm::kSecond), Arm::kSecond);
  for (int i = 0; i < 3; ++i) bandit.took(Arm::kSecond, 2);
  EXPECT_EQ(bandit.better(Arm::kSecond), Arm::kThird);
  for (int i = 0; i < 3; ++i) bandit.took(Arm::kThird, 3);
  EXPECT_EQ(bandit.better(Arm::kSecond), Arm::kSecond);
  EXPECT_EQ(bandit.better(), Arm::kFirst) << "not known";
}

TEST(Bandit, ChoicesThatAreMadeAheadStayForATrial) {
  Bandit bandit;
  const Stretches stretches = stretches_of_second(bandit, 50'000, 1, 1.5);
  EXPECT_EQ(stretches.shortest, 4);
  EXPECT_EQ(stretches.longest, 4);
  EXPECT_GT(stretches.total, 100);
  EXPECT_LT(stretches.total, 1000);
}

TEST(Bandit, EqualsDoNotStarveOneAnother) {
  Bandit bandit;
  const Stretches stretches = stretches_of_second(bandit, 10'000, 1, 1);
  EXPECT_GE(stretches.shortest, 4);
  EXPECT_GT(stretches.total, 3);
}

}  // namespace
}  // namespace tutti
