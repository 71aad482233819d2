// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Between two looks at what one waits for: at first none, then ever more, up to a tenth of a
// millisecond.
#pragma once

#include <chrono>
#include <thread>

namespace tutti_mpi {

class Pause {
 public:
  void once() {
    ++looks_;
    if (looks_ < kEager) return;
    if (looks_ < kYielding) return std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(looks_ < kShort ? 20 : 100));
  }

 private:
  static constexpr int kEager = 1000;
  static constexpr int kYielding = 3000;
  static constexpr int kShort = 10000;
  int looks_ = 0;
};

}  // namespace tutti_mpi
