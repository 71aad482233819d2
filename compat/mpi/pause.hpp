// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Pauses between two looks at what a thread waits for: at first none, then ever longer ones, up to
// a tenth of a millisecond.
#pragma once

#include <chrono>
#include <thread>

namespace tutti_mpi {

class Pause {
 public:
  void once() {
    ++looks_;
    if (looks_ < kLooksAtOnce) return;
    if (looks_ < kLooksBeforeSleep) return std::this_thread::yield();
    std::this_thread::sleep_for(
        std::chrono::microseconds(looks_ < kLooksBeforeLongSleep ? 20 : 100));
  }

 private:
  // What is near comes while a core spins, which a system call would delay.
  static constexpr int kLooksAtOnce = 1000;
  // A peer that shares the core needs it to get on; each yield gives it a turn.
  static constexpr int kLooksBeforeSleep = 3000;
  // A wait of some tenths of a second is long: a late answer costs little then, a busy core more.
  static constexpr int kLooksBeforeLongSleep = 10'000;
  int looks_ = 0;
};

}  // namespace tutti_mpi
