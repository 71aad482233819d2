// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A lock for brief and hardly ever contended sections. Taking it and giving it back is one atomic
// exchange; std::mutex takes two, and some fifty instructions more. A thread that finds it taken
// spins, yields, and sleeps for some microseconds at a time; nobody wakes it.
#pragma once

#include <atomic>

#include "core/wait.hpp"

namespace tutti {

// For std::lock_guard and std::unique_lock.
class BriefLock {
 public:
  void lock() {
    if (!try_lock()) [[unlikely]]
      wait();
  }
  bool try_lock() {
    return !held_.load(std::memory_order_relaxed) &&
           !held_.exchange(true, std::memory_order_acquire);
  }
  // Whether somebody holds it at this moment.
  [[nodiscard]] bool held() const { return held_.load(std::memory_order_relaxed); }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  [[gnu::noinline]] void wait() {
    static constexpr SpinBudget kBudget{.spins = 100, .yields = 100, .wake_needs_fence = true};
    Bell bell{};
    const Waiter waiter{.bell = &bell, .budget = &kBudget, .polls = true, .uninterrupted = true};
    wait_until(waiter, [this] { return try_lock(); });
  }

  std::atomic<bool> held_{false};
};

}  // namespace tutti
