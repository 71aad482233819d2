// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Spreads ranks that outnumber their cores evenly over these. Such ranks take turns by yielding,
// and a call takes as long as the core with the most ranks needs. The kernel seldom moves a thread
// that has just run, as one that yields always has. Three of four ranks may stay on one of two
// cores for seconds (docs/notes/08). So a rank that waits looks now and then on which cores its
// peers are. If its own core has more than an even share, it moves to another. Its thread's
// affinity is narrowed to that core, and widened again at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "core/wait.hpp"

namespace tutti {

class Spread final : public YieldHook {
 public:
  // `all` are the bells of the ranks of this host, with its own among them; `shared` is what these
  // ranks share, on `cores` cores. All of it outlives the object.
  Spread(Bell& own, std::vector<const Bell*> all, Sleepers& shared, int cores);

  // Called before each yield of a thread that waits on this rank's bell; may move it to another
  // core.
  void before_yield() override {
    if (yields_.fetch_add(1, std::memory_order_relaxed) % kYieldsBetweenChecks == 0) check();
  }

 private:
  // Checks are so rare that they cost little beside the yields.
  static constexpr uint32_t kYieldsBetweenChecks = 64;

  void check();
  [[nodiscard]] bool take_turn_to_move();
  void move_from(int core);

  Bell& own_;
  const std::vector<const Bell*> all_;
  Sleepers& shared_;
  const int even_share_;
  std::atomic<uint32_t> yields_{0};
  // Used by the thread that holds `moving_` alone.
  std::atomic_flag moving_ = ATOMIC_FLAG_INIT;
  uint32_t moved_ms_ = 0;
  uint32_t pause_ms_ = 1;  // longer while moves do not last
};

}  // namespace tutti
