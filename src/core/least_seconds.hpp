// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <limits>

namespace tutti {

// What work() takes at best of so many times: other work on the machine has disturbed that least.
template <typename Work>
double least_seconds(int times, Work&& work) {
  using Clock = std::chrono::steady_clock;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < times; ++i) {
    const Clock::time_point begun = Clock::now();
    work();
    least = std::min(least, std::chrono::duration<double>(Clock::now() - begun).count());
  }
  return least;
}

}  // namespace tutti
