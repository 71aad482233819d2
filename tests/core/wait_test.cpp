// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/wait.hpp"

#include <gtest/gtest.h>
#include <time.h>

#include <thread>
#include <vector>

#include "core/topology.hpp"

namespace tutti {
namespace {

constexpr SpinBudget kSleepAtOnce{.spins = 0, .yields = 0, .wake_needs_fence = false};

constexpr SpinBudget kYieldsFirst{.spins = 0, .yields = 10, .wake_needs_fence = false};
constexpr SpinBudget kSpinsFirst{.spins = 100, .yields = 0, .wake_needs_fence = false};

int64_t cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

TEST(Wait, ReturnsAtOnceWhenTheConditionHolds) {
  EXPECT_EQ(wait_until(Waiter{.budget = &kSleepAtOnce}, [] { return true; }), WaitEnd::kReady);
}

TEST(Wait, TheConditionWinsOverStopAndDeadline) {
  const std::atomic<uint32_t> stop{1};
  const Waiter waiter{.budget = &kSleepAtOnce, .stop = &stop, .deadline_ms = 0};
  int looks = 0;
  EXPECT_EQ(wait_until(waiter, [&] { return ++looks == 2; }), WaitEnd::kReady);
}

// A long message is under way for as long as it takes; sleeping between its pieces would make it
// longer.
TEST(Wait, DoesNotSleepWhileWhatItPollsForIsOnItsWay) {
  Bell bell{};
  const auto looks_before_sleep = [&bell](bool moves, bool polls) {
    const Waiter waiter{.bell = &bell, .budget = &kYieldsFirst, .polls = polls};
    int looks = 0;
    EXPECT_EQ(wait_until(waiter,
                         [&] {
                           if (moves) note_move();
                           return ++looks == 1000 || bell.sleepers.load() > 0;
                         }),
              WaitEnd::kReady);
    return looks;
  };
  for (const bool polls : {false, true}) {
    EXPECT_EQ(looks_before_sleep(true, polls), 1000) << polls;
    EXPECT_LT(looks_before_sleep(false, polls), 20) << polls;
  }
}

// Nor does that put off the end.
TEST(Wait, EndsAtTheDeadlineThoughSomethingMoves) {
  for (const SpinBudget* budget : {&kYieldsFirst, &kSpinsFirst}) {
    const Waiter waiter{.budget = budget, .deadline_ms = now_ms() + 5, .polls = true};
    EXPECT_EQ(wait_until(waiter,
                         [] {
                           note_move();
                           return false;
                         }),
              WaitEnd::kDeadline);
  }
}

// Whoever waits for a long call works on it in between.
TEST(Wait, SpinsAnewAfterSomethingMoved) {
  Bell bell{};
  const Waiter waiter{.bell = &bell, .budget = &kSpinsFirst};
  uint32_t looks = 0;
  EXPECT_EQ(wait_until(waiter,
                       [&] {
                         if (++looks % kSpinsFirst.spins == 0) note_move();
                         return looks == 10 * kSpinsFirst.spins || bell.sleepers.load() > 0;
                       }),
            WaitEnd::kReady);
  EXPECT_EQ(looks, 10 * kSpinsFirst.spins);
}

TEST(Wait, EndsWhenStopped) {
  Bell bell{};
  std::atomic<uint32_t> stop{0};
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop.store(1);
    bell.rings.fetch_add(1);
    ring(bell);
  });
  const Waiter waiter{.bell = &bell, .budget = &kSleepAtOnce, .stop = &stop};
  EXPECT_EQ(wait_until(waiter, [] { return false; }), WaitEnd::kStopped);
  stopper.join();
}

TEST(Wait, EndsWhenStoppedInSharedMemory) {
  Bell bell{};
  const std::atomic<uint32_t> stop{7};
  const Waiter waiter{.bell = &bell, .budget = &kSleepAtOnce, .shared_stop = &stop};
  EXPECT_EQ(wait_until(waiter, [] { return false; }), WaitEnd::kStopped);
}

TEST(Wait, EndsAtTheDeadlineAndNotBefore) {
  Bell bell{};
  const int64_t begin = now_ms();
  const Waiter waiter{.bell = &bell, .budget = &kSleepAtOnce, .timeout_ms = 30};
  EXPECT_EQ(wait_until(waiter, [] { return false; }), WaitEnd::kDeadline);
  EXPECT_GE(now_ms() - begin, 30);
}

TEST(Wait, EndsAtTheDeadlineWithoutABellToo) {
  const Waiter waiter{.budget = &kSleepAtOnce, .deadline_ms = now_ms() + 5};
  EXPECT_EQ(wait_until(waiter, [] { return false; }), WaitEnd::kDeadline);
}

TEST(Wait, ASleeperIsCountedWhileItSleepsAndNotAfter) {
  Bell bell{};
  Sleepers sleepers{};
  std::atomic<bool> go{false};
  std::thread waiting([&] {
    const Waiter waiter{.bell = &bell, .sleepers = &sleepers, .budget = &kSleepAtOnce};
    wait_until(waiter, [&] { return go.load(); });
  });
  while (sleepers.count.load() == 0) std::this_thread::yield();
  EXPECT_EQ(bell.sleepers.load(), 1u);
  go.store(true);
  ring(bell);
  waiting.join();
  EXPECT_EQ(sleepers.count.load(), 0u);
  EXPECT_EQ(bell.sleepers.load(), 0u);
}

TEST(Wait, ASleeperUsesHardlyAnyProcessorTime) {
  Bell bell{};
  const int64_t before = cpu_ms();
  const Waiter waiter{.bell = &bell, .budget = &kSleepAtOnce, .timeout_ms = 300};
  wait_until(waiter, [] { return false; });
  // Spinning would take all 300; the bound is loose, for the machine may be busy.
  EXPECT_LT(cpu_ms() - before, 150);
}

// Of two threads on one core, one that computes gets it for longer after each yield of the other.
TEST(Wait, SleepsInsteadOfYieldingToALongComputation) {
  const std::vector<int> cores = usable_cores();
  Bell bell{};
  std::atomic<bool> slept{false};
  std::thread computes([&] {
    ASSERT_TRUE(bind_this_thread(cores.front()).ok());
    const int64_t give_up_ms = now_ms() + 30'000;
    while (bell.sleepers.load() == 0 && now_ms() < give_up_ms) {
    }
    slept = bell.sleepers.load() > 0;
    bell.rings.fetch_add(1);
    ring(bell);
  });
  std::thread waits([&] {
    ASSERT_TRUE(bind_this_thread(cores.front()).ok());
    const SpinBudget budget{.spins = 0, .yields = 1U << 30, .sleeps_if_oversubscribed = true};
    const Waiter waiter{.bell = &bell, .budget = &budget};
    EXPECT_EQ(wait_until(waiter, [&] { return bell.rings.load() > 0; }), WaitEnd::kReady);
  });
  waits.join();
  computes.join();
  EXPECT_TRUE(slept);
}

TEST(Wait, HandsOverBetweenThreadsAnyNumberOfTimes) {
  // Each waits for the other's number, sleeping at once: a lost wake-up would cost a time limit, a
  // wrong one a wrong order.
  Bell bells[2]{};
  Sleepers sleepers{};
  std::atomic<uint32_t> numbers[2]{};
  constexpr uint32_t kRounds = 2000;
  const auto play = [&](int me) {
    const SpinBudget budget{.spins = 0, .yields = 0, .wake_needs_fence = !register_membarrier()};
    const Waiter waiter{.bell = &bells[me], .sleepers = &sleepers, .budget = &budget};
    for (uint32_t round = 1; round <= kRounds; ++round) {
      if (me == 1) wait_until(waiter, [&] { return numbers[0].load() >= round; });
      numbers[me].store(round);
      std::atomic_thread_fence(std::memory_order_seq_cst);
      ring(bells[1 - me]);
      if (me == 0) wait_until(waiter, [&] { return numbers[1].load() >= round; });
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_EQ(numbers[0].load(), kRounds);
  EXPECT_EQ(numbers[1].load(), kRounds);
}

TEST(SpinBudget, DoesNotSpinWhenThreadsOutnumberCores) {
  EXPECT_EQ(spin_budget_for(4, 2).spins, 0u);
  EXPECT_GT(spin_budget_for(2, 2).spins, 0u);
}

}  // namespace
}  // namespace tutti
