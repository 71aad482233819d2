// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/brief_lock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace tutti {
namespace {

TEST(BriefLock, IsHeldByOneAtATime) {
  constexpr int kThreads = 4;
  constexpr int kTimes = 20'000;
  BriefLock lock;
  int count = 0;  // not atomic
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < kTimes; ++i) {
        const std::lock_guard guard(lock);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, kThreads * kTimes);
}

TEST(BriefLock, IsWaitedForAsLongAsItIsHeld) {
  BriefLock lock;
  bool done = false;
  lock.lock();
  EXPECT_FALSE(lock.try_lock());
  std::thread other([&] {
    const std::lock_guard guard(lock);
    EXPECT_TRUE(done);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // until it sleeps, too
  done = true;
  lock.unlock();
  other.join();
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

}  // namespace
}  // namespace tutti
