// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "adapt/spread.hpp"

#include <gtest/gtest.h>
#include <sched.h>

namespace tutti {
namespace {

constexpr int kRanks = 4;
constexpr int kCores = 2;
constexpr int kTries = 100;  // for the kernel may move the thread, too

// Four ranks on two cores, of which this thread is the first; where the others are is made up.
class Spreads : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(sched_getaffinity(0, sizeof before_, &before_), 0);
    if (CPU_COUNT(&before_) < kCores) GTEST_SKIP() << "needs two cores";
  }
  void TearDown() override {
    cpu_set_t after;
    ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
    EXPECT_TRUE(CPU_EQUAL(&before_, &after));
    ASSERT_EQ(sched_setaffinity(0, sizeof given_, &given_), 0);
  }
  void allow(int core) {
    CPU_ZERO(&before_);
    CPU_SET(core, &before_);
    ASSERT_EQ(sched_setaffinity(0, sizeof before_, &before_), 0);
  }
  [[nodiscard]] int other_than(int core) const {
    int other = 0;
    while (other == core || !CPU_ISSET(other, &given_)) ++other;
    return other;
  }
  void place(int rank, int core) {
    bells_[rank].core_and_one.store(static_cast<uint32_t>(core) + 1);
  }
  // What the first rank says of itself after a look.
  int core_after_look() {
    Spread spread(bells_[0], {&bells_[0], &bells_[1], &bells_[2], &bells_[3]}, shared_, kCores);
    shared_.moved_ms.store(0);
    spread.before_yield();
    return static_cast<int>(bells_[0].core_and_one.load()) - 1;
  }
  [[nodiscard]] bool has_moved() const { return shared_.moved_ms.load() != 0; }

  const cpu_set_t given_ = [] {
    cpu_set_t usable;
    CPU_ZERO(&usable);
    sched_getaffinity(0, sizeof usable, &usable);
    return usable;
  }();
  cpu_set_t before_{};
  Bell bells_[kRanks] = {};
  Sleepers shared_{};
};

TEST_F(Spreads, MovesARankWhoseCoreHasMoreThanItsShare) {
  int moves = 0;
  for (int i = 0; i < kTries && moves == 0; ++i) {
    const int core = sched_getcpu();
    place(1, core);
    place(2, core);
    place(3, other_than(core));
    if (core_after_look() == other_than(core) && has_moved()) ++moves;
  }
  EXPECT_EQ(moves, 1);
}

TEST_F(Spreads, LeavesRanksAloneThatAreEvenlySpread) {
  int moves = 0;
  for (int i = 0; i < kTries; ++i) {
    const int core = sched_getcpu();
    place(1, core);
    place(2, other_than(core));
    place(3, other_than(core));
    core_after_look();
    if (has_moved()) ++moves;  // the kernel had taken it to where two are
  }
  EXPECT_LT(moves, kTries / 10);
}

TEST_F(Spreads, TellsWhereItIsAndKnowsNothingOfWhoHasNotSaid) {
  const int after = core_after_look();
  EXPECT_TRUE(CPU_ISSET(after, &given_));
  EXPECT_FALSE(has_moved());
}

TEST_F(Spreads, LeavesAThreadWhereItsUserHasBoundIt) {
  const int core = sched_getcpu();
  ASSERT_NO_FATAL_FAILURE(allow(core));
  for (int rank = 1; rank < kRanks; ++rank) place(rank, core);
  EXPECT_EQ(core_after_look(), core);
}

TEST_F(Spreads, MovesOneRankAtATime) {
  const int core = sched_getcpu();
  ASSERT_NO_FATAL_FAILURE(allow(core));
  for (int rank = 1; rank < kRanks; ++rank) place(rank, core);
  Spread spread(bells_[0], {&bells_[0], &bells_[1], &bells_[2], &bells_[3]}, shared_, kCores);
  bool looked_in_time = false;
  for (int i = 0; i < kTries && !looked_in_time; ++i) {
    const int64_t now = host_ms();
    const auto just_now = static_cast<uint32_t>(now - 1);
    shared_.moved_ms.store(just_now);  // by another
    for (int yield = 0; yield < 64; ++yield) spread.before_yield();
    if (host_ms() > now) continue;
    looked_in_time = true;
    EXPECT_EQ(shared_.moved_ms.load(), just_now);
  }
  EXPECT_TRUE(looked_in_time);
}

}  // namespace
}  // namespace tutti
