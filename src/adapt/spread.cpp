// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "adapt/spread.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>

#include "core/log.hpp"

namespace tutti {
namespace {

// A rank that moves has shown where it is by then.
constexpr uint32_t kMovesApartMs = 2;
// Ranks that the kernel moves back again and again try no more often.
constexpr uint32_t kLongestPauseMs = 256;

// Where the owner of a bell was when it last looked; -1: unknown.
int core_of(const Bell& bell) {
  return static_cast<int>(bell.core_and_one.load(std::memory_order_relaxed)) - 1;
}

int64_t ranks_on(int core, const std::vector<const Bell*>& bells) {
  return std::ranges::count_if(bells, [&](const Bell* bell) { return core_of(*bell) == core; });
}

}  // namespace

Spread::Spread(Bell& own, std::vector<const Bell*> all, Sleepers& shared, int cores)
    : own_(own),
      all_(std::move(all)),
      shared_(shared),
      even_share_((static_cast<int>(all_.size()) + cores - 1) / cores) {}

void Spread::check() {
  const int core = sched_getcpu();
  if (core < 0) return;
  if (core_of(own_) != core) {
    own_.core_and_one.store(static_cast<uint32_t>(core) + 1, std::memory_order_relaxed);
  }
  if (ranks_on(core, all_) <= even_share_ || moving_.test_and_set(std::memory_order_acquire))
    return;
  if (take_turn_to_move()) move_from(core);
  moving_.clear(std::memory_order_release);
}

// One rank at a time; this one seldom, if the kernel, which sees what else runs, moves it back.
bool Spread::take_turn_to_move() {
  const auto now = static_cast<uint32_t>(host_ms());
  const uint32_t since = now - moved_ms_;
  if (since < pause_ms_) return false;
  uint32_t last = shared_.moved_ms.load(std::memory_order_relaxed);
  if (now - last < kMovesApartMs ||
      !shared_.moved_ms.compare_exchange_strong(last, now, std::memory_order_relaxed)) {
    return false;
  }
  pause_ms_ = since < 8 * pause_ms_ ? std::min(2 * pause_ms_, kLongestPauseMs) : 1;
  moved_ms_ = now;
  return true;
}

void Spread::move_from(int core) {
  cpu_set_t usable;  // not on machines with more cores than it has room for
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) return;
  int emptiest = core;
  for (int other = 0; other < CPU_SETSIZE; ++other) {
    if (CPU_ISSET(other, &usable) && ranks_on(other, all_) < ranks_on(emptiest, all_)) {
      emptiest = other;
    }
  }
  const auto ranks_here = ranks_on(core, all_);
  if (ranks_on(emptiest, all_) + 1 >= ranks_here) return;
  cpu_set_t there;
  CPU_ZERO(&there);
  CPU_SET(emptiest, &there);
  if (sched_setaffinity(0, sizeof there, &there) != 0) return;
  if (sched_setaffinity(0, sizeof usable, &usable) != 0) {
    const auto error = Status::system(errno, "giving a thread that moved its affinity back");
    log::warn("{}; it stays on core {}", error.message(), emptiest);
  }
  own_.core_and_one.store(static_cast<uint32_t>(emptiest) + 1, std::memory_order_relaxed);
  log::debug("{} of the {} ranks of this host were on core {}: this one has moved to core {}",
             ranks_here, all_.size(), core, emptiest);
}

}  // namespace tutti
