// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How the driver waits for what another thread or process does.
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

namespace tutti_test::ze {

inline uint64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::nanoseconds(now).count());
}

inline constexpr std::chrono::microseconds kNap{20};

// Whether the condition holds within so many nanoseconds; UINT64_MAX: for ever.
template <typename Condition>
bool wait_for(const Condition& condition, uint64_t timeout_ns) {
  const uint64_t begin = now_ns();
  while (!condition()) {
    if (now_ns() - begin >= timeout_ns) return false;
    std::this_thread::sleep_for(kNap);
  }
  return true;
}

}  // namespace tutti_test::ze
