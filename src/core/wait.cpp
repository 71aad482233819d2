// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/wait.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "core/clock.hpp"
#include "core/interrupt.hpp"

namespace tutti {
namespace {

// The first sleep is short, in case a wake was lost. Later ones are longer, up to the time within
// which an abort or a death must be noticed.
constexpr int64_t kFirstSleepUs = 1000;
constexpr int64_t kLongestSleepUs = 10'000;
// Sleeps of a thread that nobody wakes: long enough to leave the core to others, short beside what
// the wait has taken by then.
constexpr int64_t kFirstPollUs = 20;
constexpr int64_t kLongestPollUs = 1000;
constexpr uint32_t kPollsPerDoubling = 64;

// While a thread yields, one round in so many looks at the deadline, from the first on. One in so
// many, from the last on, reports a long wait.
constexpr uint32_t kRoundsPerLook = 16;

// Pauses, tens of microseconds of them: what a peer needs that is late by a call's own work.
constexpr uint32_t kSpins = 4000;
// Yields where cores are shared: many turns of every other thread.
constexpr uint32_t kYields = 400;
// A yield to threads that only look for what they wait for takes far less.
constexpr double kLongYieldSeconds = 500e-6;
// Waits that sleep at once before the core is looked at again.
constexpr uint32_t kSleepsAfterLongYield = 64;
// Yields after spins, where each rank has a core: a few, in case something else needs it.
constexpr uint32_t kYieldsAfterSpins = 20;

// Yields, unless others were found to work on this core; whether they were.
bool yield_or_find_oversubscribed(uint32_t round, uint32_t yields) {
  thread_local uint32_t sleeps_left = 0;
  thread_local double yielded_s = 0;
  if (sleeps_left > 0) {
    --sleeps_left;
    return true;
  }
  if (round == 0) yielded_s = now_s();
  sched_yield();
  if (round >= yields) return false;  // it has slept since the last one
  const double before_s = std::exchange(yielded_s, now_s());
  // A yield that takes so long has let others work, not only look for what they wait for. After
  // one, this thread sleeps so many times before it yields again.
  if (yielded_s - before_s < kLongYieldSeconds) return false;
  sleeps_left = kSleepsAfterLongYield;
  return true;
}

long membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

}  // namespace

SpinBudget spin_budget_for(int threads, int cores) {
  SpinBudget budget;
  // Yields are the whole budget when a core must be shared: each lets a peer run, and costs about
  // what a switch of processes costs.
  budget.spins = threads > cores ? 0 : kSpins;
  budget.yields = threads > cores ? kYields : kYieldsAfterSpins;
  budget.wake_needs_fence = !register_membarrier();
  return budget;
}

SpinBudget polling(SpinBudget budget) {
  budget.spins = 0;
  budget.yields = kYields;
  return budget;
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

void yield_core() { sched_yield(); }

void ring_after_store(Bell& bell, const SpinBudget& sleepers) {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (sleepers.wake_needs_fence) std::atomic_thread_fence(std::memory_order_seq_cst);
  ring(bell);
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
  if (!waiter.uninterrupted) begin_to_ask();
  if (waiter.timeout_ms == kNever) return waiter.deadline_ms;
  return std::min(waiter.deadline_ms, now_ms() + waiter.timeout_ms);
}

void came_after_all(WaitEnd end) {
  if (end == WaitEnd::kInterrupted) forget_end_of_wait();
}

bool slow_round(const Waiter& waiter, int64_t deadline_ms, uint32_t& round, WaitEnd& end) {
  if (waiter.stop != nullptr && waiter.stop->load(std::memory_order_acquire) != 0) {
    end = WaitEnd::kStopped;
    return true;
  }
  if (waiter.shared_stop != nullptr && waiter.shared_stop->load(std::memory_order_acquire) != 0) {
    end = WaitEnd::kStopped;
    return true;
  }
  if (!waiter.uninterrupted && must_end_wait()) {
    end = WaitEnd::kInterrupted;
    return true;
  }
  if (round % kRoundsPerLook == kRoundsPerLook - 1 || round >= waiter.budget->yields) {
    if (waiter.slow != nullptr) waiter.slow->on_slow_round();
  }
  if (deadline_ms != kNever && (round % kRoundsPerLook == 0 || round >= waiter.budget->yields) &&
      now_ms() >= deadline_ms) {
    end = WaitEnd::kDeadline;
    return true;
  }
  if (waiter.budget->hook != nullptr) waiter.budget->hook->before_yield();
  if (!waiter.budget->sleeps_if_oversubscribed) {
    sched_yield();
  } else if (yield_or_find_oversubscribed(round, waiter.budget->yields)) {
    round = std::max(round, waiter.budget->yields);
  }
  return false;
}

uint32_t before_sleep(const Waiter& waiter) {
  const uint32_t rings = waiter.bell->rings.load(std::memory_order_acquire);
  waiter.bell->sleepers.fetch_add(1, std::memory_order_seq_cst);
  if (waiter.sleepers != nullptr) waiter.sleepers->count.fetch_add(1, std::memory_order_seq_cst);
  // The waker sees the sleeper from here on, or the following look sees the waker's store.
  if (!waiter.budget->wake_needs_fence) membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
  return rings;
}

void sleep(const Waiter& waiter, int64_t deadline_ms, uint32_t rings, uint32_t round) {
  const int64_t first = waiter.polls ? kFirstPollUs : kFirstSleepUs;
  const int64_t longest = waiter.polls ? kLongestPollUs : kLongestSleepUs;
  const uint32_t doublings = std::min(waiter.polls ? round / kPollsPerDoubling : round, 8u);
  int64_t us = std::min(first << doublings, longest);
  if (deadline_ms != kNever) us = std::clamp<int64_t>((deadline_ms - now_ms()) * 1000, 0, us);
  sleep_for(*waiter.bell, us, rings);
}

void sleep_for(Bell& bell, int64_t us, uint32_t rings) {
  const timespec limit{0, static_cast<long>(us * 1000)};
  syscall(SYS_futex, &bell.rings, FUTEX_WAIT, rings, &limit, nullptr, 0);
}

void after_sleep(const Waiter& waiter) {
  waiter.bell->sleepers.fetch_sub(1, std::memory_order_relaxed);
  if (waiter.sleepers != nullptr) waiter.sleepers->count.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace wait_detail
}  // namespace tutti
