// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/stamp.hpp"

#include <ctime>

namespace tutti {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;
// Less says too little of how fast the counter runs.
constexpr int64_t kLeastNs = 1'000'000;

int64_t ns_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<int64_t>(now.tv_sec) * kNsPerSecond + now.tv_nsec;
}

// When this library was loaded.
const Moment loaded = moment_now();

}  // namespace

Moment moment_now() {
  return {.stamp = stamp_now(),
          .monotonic_ns = ns_of(CLOCK_MONOTONIC),
          .real_ns = ns_of(CLOCK_REALTIME)};
}

StampClock::StampClock(const Moment& first, const Moment& last) : last_(last) {
  const int64_t ns = last.monotonic_ns - first.monotonic_ns;
  const auto counts = static_cast<int64_t>(last.stamp - first.stamp);
  if (ns < kLeastNs || counts <= 0) return;
  ns_per_count_ = static_cast<double>(ns) / static_cast<double>(counts);
}

double seconds_since(uint64_t stamp) {
  const Moment now = moment_now();
  const StampClock clock(loaded, now);
  if (stamp == 0 || !clock.known()) return -1;
  const int64_t ns = now.monotonic_ns - clock.monotonic_ns(stamp);
  return ns < 0 ? 0 : static_cast<double>(ns) / static_cast<double>(kNsPerSecond);
}

}  // namespace tutti
