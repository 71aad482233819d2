// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ranks that outnumber their cores take turns by yielding, and a call takes as long as the core
// with the most of them needs. The kernel evens that out late: it is slow to move what has just
// run, as a thread always has that yields and runs again. Three of four ranks may stay on one of
// two cores for seconds, where calls take 1.5 times as long. So a rank that waits looks now and
// then on which cores its peers are, and moves if its own has more than an even share of them: its
// thread's affinity is narrowed to the other core and widened again at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "core/tuned.hpp"
#include "core/wait.hpp"

namespace tutti {

class Spread final : public YieldHook {
 public:
  // Of the ranks of a host: the bells of all, this rank's among them, and what they share. On
  // so many cores. All outlive it.
  Spread(Bell& own, std::vector<const Bell*> all, Sleepers& shared, int cores);

  // Before each yield of a thread that waits on this rank's bell. Any thread; the one that calls
  // may find itself on another core after it.
  void before_yield() override {
    if (yields_.fetch_add(1, std::memory_order_relaxed) % kBetweenLooks == 0) look();
  }

 private:
  static constexpr uint32_t kBetweenLooks =
      tuned::kYieldsBetweenLooks;  // yields, of 0.3 to 1 us and what others do then

  void look();
  [[nodiscard]] bool may_move_now();
  void move_from(int core);

  Bell& own_;
  const std::vector<const Bell*> all_;
  Sleepers& shared_;
  const int even_share_;
  std::atomic<uint32_t> yields_{0};
  // Of the thread that holds it.
  std::atomic_flag moving_ = ATOMIC_FLAG_INIT;
  uint32_t moved_ms_ = 0;
  uint32_t pause_ms_ = 1;  // longer while moves do not last
};

}  // namespace tutti
