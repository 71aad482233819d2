// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "exec/worker.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace tutti {
namespace {

constexpr SpinBudget kBudget{.spins = 0, .yields = 1, .wake_needs_fence = true};

// Work that is done in single pieces, some of which have to wait until they are released.
class Pieces : public Driven {
 public:
  bool drive(int worker) override {
    if (!needs(worker)) return false;
    last_worker = worker;
    int left = todo.load();
    while (left > 0 && released.load() > done.load()) {
      done.fetch_add(1);
      left = todo.fetch_sub(1) - 1;
    }
    return false;
  }
  bool needs(int) const override { return todo.load() != 0 && !helped.load(); }
  Waiter waiter() const override { return {.bell = &bell, .budget = &kBudget}; }

  std::atomic<int> todo{0};
  std::atomic<int> released{0};
  std::atomic<int> done{0};
  std::atomic<int> last_worker{-1};
  std::atomic<bool> helped{false};  // by somebody else
  mutable Bell bell{};
};

void wait_for(const std::atomic<int>& value, int expected) {
  while (value.load() != expected) std::this_thread::yield();
}

TEST(WorkerPool, DoesWhatItIsWokenFor) {
  WorkerPool pool({-1, -1});
  Pieces work;
  work.released = 3;
  work.todo = 3;
  ASSERT_TRUE(pool.wake(1, work).ok());
  wait_for(work.done, 3);
  EXPECT_EQ(work.last_worker.load(), 1);
  pool.forget(work);
}

TEST(WorkerPool, GoesOnWithOneWhileAnotherHasToWait) {
  WorkerPool pool({-1});
  Pieces stuck;
  Pieces free;
  stuck.todo = 1;
  ASSERT_TRUE(pool.wake(0, stuck).ok());
  free.released = 5;
  free.todo = 5;
  ASSERT_TRUE(pool.wake(0, free).ok());
  wait_for(free.done, 5);
  EXPECT_EQ(stuck.done.load(), 0);
  stuck.released = 1;
  wait_for(stuck.done, 1);
  pool.forget(stuck);
  pool.forget(free);
}

TEST(WorkerPool, FindsByItselfWhatItWasOnceWokenFor) {
  WorkerPool pool({-1});
  Pieces work;
  ASSERT_TRUE(pool.wake(0, work).ok());
  for (int round = 1; round <= 3; ++round) {
    work.released = round;
    work.todo = 1;
    wait_for(work.done, round);
  }
  pool.forget(work);
}

TEST(WorkerPool, LeavesAloneWhatSomebodyElseDoes) {
  WorkerPool pool({-1});
  Pieces helped;
  Pieces other;
  helped.helped = true;
  helped.released = helped.todo = 1;
  ASSERT_TRUE(pool.wake(0, helped).ok());
  // After three looks at both, whatever it was to do in the first has long been done.
  for (int round = 1; round <= 3; ++round) {
    other.released = round;
    other.todo = 1;
    ASSERT_TRUE(pool.wake(0, other).ok());
    wait_for(other.done, round);
  }
  EXPECT_EQ(helped.done.load(), 0);
  helped.helped = false;
  wait_for(helped.done, 1);
  pool.forget(helped);
  pool.forget(other);
}

TEST(WorkerPool, ForgottenWorkIsNotTouchedAgain) {
  WorkerPool pool({-1});
  for (int i = 0; i < 200; ++i) {
    auto work = std::make_unique<Pieces>();
    work->released = 1;
    work->todo = 1;
    ASSERT_TRUE(pool.wake(0, *work).ok());
    wait_for(work->todo, 0);
    pool.forget(*work);
    // Freed here: AddressSanitizer would see a later touch.
  }
}

TEST(WorkerPool, EndsWhileWorkersSleep) {
  Pieces work;
  work.released = 1;
  work.todo = 1;
  {
    WorkerPool pool({-1, -1, -1});
    ASSERT_TRUE(pool.wake(0, work).ok());
    ASSERT_TRUE(pool.wake(1, work).ok());
    wait_for(work.todo, 0);
  }
  EXPECT_EQ(work.done.load(), 1);
}

}  // namespace
}  // namespace tutti
