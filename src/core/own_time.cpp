// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The clock of this process (core/wait.hpp): that of the host, less the times in which the process
// did not run. Whoever reads it notes when; a long time without a note is such a time.
#include <time.h>

#include <algorithm>
#include <atomic>

#include "core/wait.hpp"

namespace tutti {
namespace {

// The unit of all times here: exact enough, and 32 bits of it are a year.
constexpr int kUnitBits = 3;
constexpr int32_t kMostBetweenLooks = kMostBetweenLooksMs >> kUnitBits;

int64_t ms_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1000000;
}

// The last look in the high half, by the clock of the host; all that does not count in the low one.
// One word, so that no thread sees the one without the other. 0: nobody has looked yet.
constinit std::atomic<uint64_t> state{0};

uint32_t look_of(uint64_t seen) { return static_cast<uint32_t>(seen >> 32); }
uint32_t missed_of(uint64_t seen) { return static_cast<uint32_t>(seen); }

// Notes a look, unless there has been a later one. Returns the new state.
uint64_t note_look(uint64_t seen, uint32_t now) {
  while (true) {
    const auto since = static_cast<int32_t>(now - look_of(seen));
    if (seen != 0 && since <= 0) return seen;
    uint32_t missed = missed_of(seen);
    if (seen != 0 && since > kMostBetweenLooks) {
      missed += static_cast<uint32_t>(since - kMostBetweenLooks);
    }
    const uint64_t noted = uint64_t{now} << 32 | missed;
    if (state.compare_exchange_weak(seen, noted, std::memory_order_relaxed)) return noted;
  }
}

int64_t own_time(int64_t host_ms) {
  const auto now = static_cast<uint32_t>(host_ms >> kUnitBits);
  uint64_t seen = state.load(std::memory_order_relaxed);
  if (static_cast<int32_t>(now - look_of(seen)) > 0 || seen == 0) [[unlikely]] {
    seen = note_look(seen, now);
  }
  // Another may have looked since the clock was read, after a time that does not count: then it is
  // as late as that look. So it is where a rough clock is behind the last one.
  const auto behind = static_cast<int32_t>(look_of(seen) - now);
  const int64_t units = std::max(behind, 0) - static_cast<int64_t>(missed_of(seen));
  return host_ms + units * (int64_t{1} << kUnitBits);
}

}  // namespace

int64_t host_ms() { return ms_of(CLOCK_MONOTONIC); }
// Counts the ticks of the kernel, at most 10 ms each.
int64_t rough_host_ms() { return ms_of(CLOCK_MONOTONIC_COARSE); }
int64_t now_ms() { return own_time(host_ms()); }
int64_t rough_ms() { return own_time(rough_host_ms()); }

}  // namespace tutti
