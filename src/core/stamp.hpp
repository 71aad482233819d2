// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Time stamps that cost a few instructions: the processor's counter, which runs evenly and is the
// same on all cores of a host. The meaning of a count is found out afterwards, from two moments at
// which counter and clock were read together.
#pragma once

#include <cstdint>

namespace tutti {

inline uint64_t stamp_now() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t counts = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(counts));
  return counts;
#else
  return 0;
#endif
}

// One moment by all clocks that count. No padding: it lies in shared memory.
struct Moment {
  uint64_t stamp = 0;
  int64_t monotonic_ns = 0;
  int64_t real_ns = 0;  // since 1970
};
Moment moment_now();

// The times of stamps that were taken between two moments, or about then.
class StampClock {
 public:
  // Knows nothing if the two moments are too close, or are of different clocks.
  StampClock(const Moment& first, const Moment& last);
  [[nodiscard]] bool known() const { return ns_per_count_ > 0; }
  // On the monotonic clock, and since 1970.
  [[nodiscard]] int64_t monotonic_ns(uint64_t stamp) const {
    return last_.monotonic_ns + since_last(stamp);
  }
  // The stamp of a moment of the monotonic clock; only if known.
  [[nodiscard]] uint64_t stamp_at(int64_t monotonic_ns) const {
    const auto ns = static_cast<double>(monotonic_ns - last_.monotonic_ns);
    return last_.stamp + static_cast<uint64_t>(bounded(ns / ns_per_count_));
  }
  [[nodiscard]] int64_t real_ns(uint64_t stamp) const { return last_.real_ns + since_last(stamp); }

 private:
  [[nodiscard]] int64_t since_last(uint64_t stamp) const {
    const auto counts = static_cast<int64_t>(stamp - last_.stamp);
    return bounded(static_cast<double>(counts) * ns_per_count_);
  }
  // Others may have written any number.
  static int64_t bounded(double value) {
    constexpr double kMost = 4e18;
    return value > -kMost && value < kMost ? static_cast<int64_t>(value) : 0;
  }

  Moment last_;
  double ns_per_count_ = 0;
};

// Seconds from a stamp of this host until now, as this process finds it; below 0: not known.
double seconds_since(uint64_t stamp);

}  // namespace tutti
