// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/rivals.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

// How many of so many times the second is taken, if each costs so much.
int seconds_of(Rivals& rivals, int times, double first, double second) {
  int seconds = 0;
  for (int i = 0; i < times; ++i) {
    const Rival way = rivals.better();
    seconds += way == Rival::kSecond ? 1 : 0;
    rivals.took(way, way == Rival::kFirst ? first : second);
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
Stretches stretches_of_second(Rivals& rivals, int times, double first, double second) {
  Stretches stretches;
  Rival running = Rival::kFirst;
  int stretch = 0;
  for (int i = 0; i < times; ++i) {
    const Rival next = rivals.choose();
    rivals.took(running, running == Rival::kFirst ? first : second);
    if (running == Rival::kSecond) ++stretch, ++stretches.total;
    if (running == Rival::kSecond && next == Rival::kFirst) {
      stretches.shortest = std::min(stretches.shortest, stretch);
      stretches.longest = std::max(stretches.longest, stretch);
      stretch = 0;
    }
    running = next;
  }
  return stretches;
}

TEST(Rivals, BothAreTriedSomeTimesAndTheFasterIsTaken) {
  Rivals second_is_faster;
  EXPECT_FALSE(second_is_faster.knows(Rival::kFirst));
  EXPECT_EQ(seconds_of(second_is_faster, 6, 2, 1), 3);
  EXPECT_TRUE(second_is_faster.knows(Rival::kFirst) && second_is_faster.knows(Rival::kSecond));
  EXPECT_EQ(seconds_of(second_is_faster, 8, 2, 1), 8);
  EXPECT_GT(seconds_of(second_is_faster, 2000, 2, 1), 1970);
  Rivals first_is_faster;
  EXPECT_EQ(seconds_of(first_is_faster, 10, 1, 2), 3);
  EXPECT_LT(seconds_of(first_is_faster, 2000, 1, 2), 20);
}

TEST(Rivals, TheSlowerIsTriedAgainTheMoreSeldomTheSlowerItIs) {
  Rivals a_little;
  Rivals a_lot;
  const int often = seconds_of(a_little, 100'000, 1, 1.2);
  const int seldom = seconds_of(a_lot, 100'000, 1, 10);
  EXPECT_GT(seldom, 3);
  EXPECT_LT(seldom, 200);
  EXPECT_GT(often, 3 * seldom);
  EXPECT_LT(often, 3000);
}

TEST(Rivals, ATrialThatBeginsBadlyIsNotDecidedByThat) {
  Rivals rivals;
  seconds_of(rivals, 3, 2, 1);
  ASSERT_EQ(rivals.better(), Rival::kSecond);
  for (const double cost : {100, 1, 1, 1}) rivals.took(Rival::kSecond, cost);  // caches are cold
  EXPECT_EQ(rivals.better(), Rival::kSecond);
  EXPECT_EQ(rivals.cost(Rival::kSecond), 1);
}

TEST(Rivals, ATrialGoesOnWhileItGetsFaster) {
  Rivals rivals;
  for (const double cost : {3, 3, 3}) rivals.took(Rival::kFirst, cost);
  for (const double cost : {9, 8, 7, 5, 4, 2}) {
    rivals.took(Rival::kSecond, cost);
    EXPECT_FALSE(rivals.knows(Rival::kSecond)) << cost;
  }
  for (const double cost : {2, 2}) rivals.took(Rival::kSecond, cost);
  EXPECT_EQ(rivals.cost(Rival::kSecond), 2);
  EXPECT_EQ(rivals.better(), Rival::kSecond);
}

TEST(Rivals, OneThatIsHardlySlowerIsNotTakenForAStepOfTheOther) {
  Rivals rivals;
  for (const double cost : {10, 10, 10}) rivals.took(Rival::kFirst, cost);
  for (const double cost : {10.9, 10.9, 10.9}) rivals.took(Rival::kSecond, cost);
  for (const double cost : {10.0, 10.0, 10.0, 10.2}) rivals.took(Rival::kFirst, cost);
  EXPECT_GT(rivals.cost(Rival::kFirst), 10.5) << "a step";
  EXPECT_EQ(rivals.better(), Rival::kFirst);
  rivals.took(Rival::kFirst, 20);
  EXPECT_EQ(rivals.better(), Rival::kSecond) << "two steps";
}

TEST(Rivals, NoTrialGoesOnForever) {
  Rivals rivals;
  double cost = 1e9;
  int calls = 0;
  for (; !rivals.knows(Rival::kFirst) && calls < 100; ++calls) {
    rivals.took(Rival::kFirst, cost);
    cost /= 2;
  }
  EXPECT_LT(calls, 20);
}

TEST(Rivals, AFirstTrialInMemoryThatIsNewIsSoonRepeated) {
  Rivals rivals;
  seconds_of(rivals, 3, 1, 10);
  for (const double cost : {50, 4, 3, 3, 3}) rivals.took(Rival::kSecond, cost);
  ASSERT_EQ(rivals.better(), Rival::kFirst);
  EXPECT_GT(seconds_of(rivals, 300, 1, 0.5), 200);
}

TEST(Rivals, WhatIsFarBehindAndBeginsSoAgainIsLeftAtOnce) {
  Rivals far_behind;
  EXPECT_EQ(seconds_of(far_behind, 100, 1, 6), 3) << "the first trial";
  EXPECT_EQ(seconds_of(far_behind, 1000, 1, 6), 1) << "the next";
  Rivals not_far_behind;
  seconds_of(not_far_behind, 10, 1, 1.5);
  EXPECT_GE(seconds_of(not_far_behind, 300, 1, 1.5), 6);
  // But if it does not begin so again, it is tried to the end.
  EXPECT_GT(seconds_of(far_behind, 4000, 1, 0.5), 1500);
}

TEST(Rivals, FewThatAreHeldUpChangeNothing) {
  Rivals rivals;
  seconds_of(rivals, 2000, 2, 1);
  while (rivals.better() == Rival::kSecond) rivals.took(Rival::kSecond, 1);
  seconds_of(rivals, 10, 2, 1);  // the first has just been tried again
  for (int i = 0; i < 5; ++i) rivals.took(Rival::kSecond, 1000);
  EXPECT_EQ(rivals.better(), Rival::kSecond);
}

TEST(Rivals, WhatHasBecomeSlowerIsLeftSoon) {
  Rivals rivals;
  seconds_of(rivals, 10, 2, 1);
  EXPECT_LT(seconds_of(rivals, 100, 2, 8), 15);
}

TEST(Rivals, WhatHasBecomeFasterIsFoundOut) {
  Rivals rivals;
  seconds_of(rivals, 1000, 1, 4);
  EXPECT_LT(seconds_of(rivals, 100, 1, 4), 4);
  EXPECT_GT(seconds_of(rivals, 4000, 1, 0.5), 2000);
}

TEST(Rivals, WhatBeginsFarSlowerMayBeLeftAtOnce) {
  constexpr bool kLeavesAtOnce = true;
  Rivals rivals(2, kLeavesAtOnce);
  EXPECT_EQ(seconds_of(rivals, 10, 1, 1.5), 1);
  EXPECT_TRUE(rivals.knows(Rival::kSecond));
  EXPECT_EQ(rivals.cost(Rival::kSecond), 1.5);
  EXPECT_GT(seconds_of(rivals, 1000, 1, 0.5), 900) << "when it is tried again";
  Rivals a_little_slower(2, kLeavesAtOnce);
  EXPECT_EQ(seconds_of(a_little_slower, 10, 1, 1.1), 3);
  Rivals ahead(2, kLeavesAtOnce);
  const Stretches stretches = stretches_of_second(ahead, 50'000, 1, 1.5);
  EXPECT_EQ(stretches.longest, 2);
}

TEST(Rivals, WhatIsLeftAtOnceIsTriedMoreOften) {
  constexpr bool kLeavesAtOnce = true;
  Rivals left_at_once(2, kLeavesAtOnce);
  seconds_of(left_at_once, 10'000, 1, 1.5);
  EXPECT_GT(seconds_of(left_at_once, 500, 1, 0.5), 200) << "that it has become faster is found";
  Rivals tried_to_the_end;
  seconds_of(tried_to_the_end, 10'000, 1, 1.5);
  Rivals others(2, kLeavesAtOnce);
  seconds_of(others, 10'000, 1, 1.5);
  EXPECT_LT(seconds_of(others, 10'000, 1, 1.5), 2 * seconds_of(tried_to_the_end, 10'000, 1, 1.5));
}

TEST(Rivals, ThereMayBeThree) {
  constexpr double kCosts[] = {3, 2, 1};
  Rivals rivals(3);
  int times[3] = {};
  for (int i = 0; i < 2000; ++i) {
    const Rival way = rivals.better();
    ++times[static_cast<size_t>(way)];
    rivals.took(way, kCosts[static_cast<size_t>(way)]);
  }
  EXPECT_GT(times[2], 1900);
  EXPECT_GE(times[1], 3);
  EXPECT_GE(times[0], 3);
}

TEST(Rivals, SomeMayBeLeftOut) {
  Rivals rivals(3);
  EXPECT_EQ(rivals.better(Rival::kSecond), Rival::kSecond);
  for (int i = 0; i < 3; ++i) rivals.took(Rival::kSecond, 2);
  EXPECT_EQ(rivals.better(Rival::kSecond), Rival::kThird);
  for (int i = 0; i < 3; ++i) rivals.took(Rival::kThird, 3);
  EXPECT_EQ(rivals.better(Rival::kSecond), Rival::kSecond);
  EXPECT_EQ(rivals.better(), Rival::kFirst) << "not known";
}

TEST(Rivals, ChoicesThatAreMadeAheadStayForATrial) {
  Rivals rivals;
  const Stretches stretches = stretches_of_second(rivals, 50'000, 1, 1.5);
  EXPECT_EQ(stretches.shortest, 4);
  EXPECT_EQ(stretches.longest, 4);
  EXPECT_GT(stretches.total, 100);
  EXPECT_LT(stretches.total, 1000);
}

TEST(Rivals, EqualsDoNotStarveOneAnother) {
  Rivals rivals;
  const Stretches stretches = stretches_of_second(rivals, 10'000, 1, 1);
  EXPECT_GE(stretches.shortest, 4);
  EXPECT_GT(stretches.total, 3);
}

}  // namespace
}  // namespace tutti
