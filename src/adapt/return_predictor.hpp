// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Predicts from the last few times whether an application soon comes back to wait for an operation
// that it has started. If so, no worker is woken. The thread that waits does the work, and to wake
// a worker takes longer than a small call (docs/notes/06).
//
// Once the predictor is sure no clock is read. If the application then stays away after all, the
// worker finds out, for it looks every 10 ms. Further operations wake it again until the predictor
// is sure again.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/clock.hpp"

namespace tutti {

// A worker that is woken takes longer to begin than an application that comes back so soon.
inline constexpr int kBackSoonUs = 100;
// Returns in a row that cannot be chance.
inline constexpr int kReturnsUntilSure = 4;

class ReturnPredictor {
 public:
  // The application leaves while something is still to be done. Whether a worker is to be woken for
  // it. Any thread, as for returns().
  bool leaves() {
    if (returns_.load(std::memory_order_relaxed) >= kReturnsUntilSure) return false;
    left_s_.store(now_s(), std::memory_order_relaxed);
    return true;
  }
  // The application is back: it starts, tests or waits for something.
  void returns() {
    // No read-modify-write: it would have to wait until the stores for the peers have left the
    // core.
    visits_.store(visits_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    const int returns = returns_.load(std::memory_order_relaxed);
    if (returns >= kReturnsUntilSure) return;
    const double left_s = left_s_.load(std::memory_order_relaxed);
    if (left_s == 0) return;
    left_s_.store(0, std::memory_order_relaxed);
    const bool soon = now_s() - left_s < kBackSoonUs * 1e-6;
    returns_.store(soon ? returns + 1 : 0, std::memory_order_relaxed);
  }

  // A worker's questions: a number that changes each time the application comes, and a note that it
  // stayed away.
  [[nodiscard]] uint32_t visits() const { return visits_.load(std::memory_order_relaxed); }
  void stayed_away() { returns_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<int> returns_{0};    // in a row, up to kReturnsUntilSure
  std::atomic<double> left_s_{0};  // when the application left; 0: it is back
  std::atomic<uint32_t> visits_{0};
};

}  // namespace tutti
