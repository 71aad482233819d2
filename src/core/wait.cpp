// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/wait.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

namespace tutti {
namespace {

// The first sleep is short, lest a wake was lost; later ones are longer, up to the time within
// which an abort or a death must be noticed.
constexpr int64_t kFirstSleepMs = 1;
constexpr int64_t kLongestSleepMs = 10;
constexpr uint32_t kUncontendedSpins = 4000;

long membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

}  // namespace

Patience patience_for(int threads, int cores) {
  Patience patience;
  // Yields are the whole patience when a core must be shared: each lets a peer run, and costs about
  // what a switch of processes costs, 0.2 to 1 us.
  patience.spins = threads > cores ? 0 : kUncontendedSpins;
  patience.yields = threads > cores ? 400 : 20;
  patience.wake_needs_fence = !register_membarrier();
  return patience;
}

int64_t now_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1000000;
}

bool register_membarrier() {
  static const bool registered = membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
  return registered;
}

void ring(Bell& bell) {
  if (bell.sleepers.load(std::memory_order_relaxed) == 0) return;
  bell.rings.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, &bell.rings, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

namespace wait_detail {

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

int64_t deadline_of(const Waiter& waiter) {
  if (waiter.timeout_ms == kNever) return waiter.deadline_ms;
  return std::min(waiter.deadline_ms, now_ms() + waiter.timeout_ms);
}

bool slow_round(const Waiter& waiter, int64_t deadline_ms, uint32_t round, WaitEnd& end) {
  if (waiter.stop != nullptr && waiter.stop->load(std::memory_order_acquire) != 0) {
    end = WaitEnd::kStopped;
    return true;
  }
  if (waiter.shared_stop != nullptr && waiter.shared_stop->load(std::memory_order_acquire) != 0) {
    end = WaitEnd::kStopped;
    return true;
  }
  if (deadline_ms != kNever && (round % 16 == 0 || round >= waiter.patience->yields) &&
      now_ms() >= deadline_ms) {
    end = WaitEnd::kDeadline;
    return true;
  }
  sched_yield();
  return false;
}

uint32_t before_sleep(const Waiter& waiter) {
  const uint32_t rings = waiter.bell->rings.load(std::memory_order_acquire);
  waiter.bell->sleepers.fetch_add(1, std::memory_order_seq_cst);
  if (waiter.sleepers != nullptr) waiter.sleepers->count.fetch_add(1, std::memory_order_seq_cst);
  // From here on every waker either sees the sleeper, or its store is seen by the look that
  // follows.
  if (!waiter.patience->wake_needs_fence) membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
  return rings;
}

void sleep(const Waiter& waiter, int64_t deadline_ms, uint32_t rings, uint32_t round) {
  int64_t ms = std::min(kFirstSleepMs << std::min(round, 8u), kLongestSleepMs);
  if (deadline_ms != kNever) ms = std::clamp<int64_t>(deadline_ms - now_ms(), 0, ms);
  const timespec limit{0, static_cast<long>(ms * 1000000)};
  syscall(SYS_futex, &waiter.bell->rings, FUTEX_WAIT, rings, &limit, nullptr, 0);
}

void after_sleep(const Waiter& waiter) {
  waiter.bell->sleepers.fetch_sub(1, std::memory_order_relaxed);
  if (waiter.sleepers != nullptr) waiter.sleepers->count.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace wait_detail
}  // namespace tutti
