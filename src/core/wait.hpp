// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The wait function for peers: calls and messages wait in wait_until(). It spins while a core is
// free, yields when none is, and sleeps on a futex with a time limit when the peer is late. Before
// each yield and after each wake it looks at the stop flag (abort, dead peer) and the deadline.
// Sockets have wait_for() (core/socket.hpp). The few other places in which a thread waits, as those
// of the monitor and of survivors that regroup, are WAITS in tests/layering/layering.py.
//
// Waking sleepers costs the waker one load of a line that is nearly always in its cache
// (Sleepers::count) and no fence. The sleeper, not the waker, pays for the store-load ordering with
// membarrier(2). If the kernel lacks it, the time limit of the sleep bounds the cost of a lost
// wake.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "core/status.hpp"

namespace tutti {

inline constexpr size_t kCacheLine = 64;
// The bytes of all lines that so many bytes touch, from the beginning of the first.
constexpr uint64_t whole_lines(uint64_t bytes) {
  return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
}

// A bell on which a thread sleeps: one per rank, in memory that the threads which wake it can
// write.
struct alignas(kCacheLine) Bell {
  std::atomic<uint32_t> rings;     // futex word; a waker adds one
  std::atomic<uint32_t> sleepers;  // threads of the owner that sleep on it or are about to
  // The core on which the owner waited last, and 1; 0: not known (Spread).
  std::atomic<uint32_t> core_and_one;
};

// The number of sleeping threads among all that share it, so that a waker need look at no bell
// while it is 0.
struct alignas(kCacheLine) Sleepers {
  std::atomic<uint32_t> count;
  std::atomic<uint32_t> moved_ms;  // when one of them last moved to another core (Spread)
};

// Is called before each yield of a thread that waits, and may move it to another core.
class YieldHook {
 public:
  virtual void before_yield() = 0;

 protected:
  ~YieldHook() = default;
};

// Is called during a long wait.
class SlowWait {
 public:
  // Called again and again in the slow part of a wait; must be cheap.
  virtual void on_slow_round() = 0;

 protected:
  ~SlowWait() = default;
};

// How long to spin and to yield before sleeping; spin_budget_for() has the numbers.
struct SpinBudget {
  uint32_t spins = 0;             // iterations with a pause instruction
  uint32_t yields = 0;            // sched_yield calls before the first sleep
  bool wake_needs_fence = false;  // no membarrier: wakers must order their own store and load
  YieldHook* hook = nullptr;      // of a rank that shares its core with others (Spread)
  // Sleep instead of yield if others compute on the core for long. A thread that yields then gets
  // the core back last, one that is woken gets it first.
  bool sleeps_if_oversubscribed = false;
};

// Sleep at once; a thread that wakes the sleeper orders its own store and load.
inline constexpr SpinBudget kNoSpinning{.spins = 0, .yields = 0, .wake_needs_fence = true};

// The SpinBudget for `threads` that may wait at once on `cores` (a core count, or a CPU quota
// rounded down). They do not spin if they are more than the cores.
SpinBudget spin_budget_for(int threads, int cores);

// The budget where each look at what is waited for may cost a system call (Waiter::polls): it
// yields between any two looks. On an idle core that loses nothing. On a core that is shared, as by
// hosts that do not know of one another, the awaited ranks get to run.
SpinBudget polling(SpinBudget budget);

// The monotonic milliseconds of this process, by which deadlines count; INT64_MAX stands for
// "never" in these. Time in which the process does not run counts for kMostBetweenLooksMs at most,
// for its peers are not late then. Such are SIGSTOP, a frozen control group, and a machine that is
// suspended or restored.
int64_t now_ms();
inline constexpr int64_t kNever = INT64_MAX;
// A wait by that clock looks at it more often than this. A longer time without a look counts as one
// in which the process did not run.
inline constexpr int64_t kMostBetweenLooksMs = 200;
inline constexpr int64_t kLookWithinMs = 50;
// The time of now_ms(), but up to kRoughMs late, for a fraction of the cost. A deadline is not
// early if it is rough_deadline_ms() from now, wherever it is compared with rough_ms().
int64_t rough_ms();
inline constexpr int64_t kRoughMs = 10;
// The monotonic milliseconds of the host, which all its processes share, the rough ones as above.
int64_t host_ms();
int64_t rough_host_ms();
// A deadline so long after `now_ms`, a time of rough_ms(), or after now.
inline int64_t rough_deadline_ms(int64_t timeout_ms, int64_t now_ms) {
  return timeout_ms == kNever ? kNever : now_ms + timeout_ms + kRoughMs;
}
inline int64_t rough_deadline_ms(int64_t timeout_ms) {
  return timeout_ms == kNever ? kNever : rough_deadline_ms(timeout_ms, rough_ms());
}

struct Waiter {
  Bell* bell = nullptr;          // this rank's; null: never sleep
  Sleepers* sleepers = nullptr;  // the group's
  const SpinBudget* budget = nullptr;
  const std::atomic<uint32_t>* stop = nullptr;         // process-local; non-zero ends the wait
  const std::atomic<uint32_t>* shared_stop = nullptr;  // stop flag in shared memory; may be null
  int64_t deadline_ms = kNever;                        // on now_ms()'s clock
  // A limit from the beginning of the wait. It counts only after the spinning, so that a short wait
  // reads no clock.
  int64_t timeout_ms = kNever;
  // Something that is waited for does not ring the bell, as what comes over a network: sleeps are
  // short.
  bool polls = false;
  // The thread holds locks, or must see this wait to its end: see core/interrupt.hpp.
  bool uninterrupted = false;
  SlowWait* slow = nullptr;  // may be null
};

enum class WaitEnd { kReady, kStopped, kDeadline, kInterrupted };

// Notes progress of what this thread waits for, though it is not complete: the wait begins its
// budget anew. A thread that waits for a long message or call makes that progress itself, piece by
// piece.
inline thread_local uint32_t moves_of_this_thread = 0;
inline void note_move() { ++moves_of_this_thread; }

namespace wait_detail {
// After so many spins the slow part runs once, even if progress is made: stop flags and deadlines
// count then, too.
inline constexpr uint32_t kMostSpinsAtOnce = 10'000;
void relax();
// At the beginning of the slow part.
int64_t deadline_of(const Waiter& waiter);
// The awaited event came after all: forgets that an interrupt has ended the wait.
void came_after_all(WaitEnd end);
// One round of the slow part; `round` counts from 0, and becomes that of the first sleep if there
// had better be no more yields. Returns whether the wait is over.
bool slow_round(const Waiter& waiter, int64_t deadline_ms, uint32_t& round, WaitEnd& end);
// Sleeping is bracketed so that the condition can be looked at once more in between.
uint32_t before_sleep(const Waiter& waiter);
void sleep(const Waiter& waiter, int64_t deadline_ms, uint32_t rings, uint32_t round);
void after_sleep(const Waiter& waiter);
void sleep_for(Bell& bell, int64_t us, uint32_t rings);
}  // namespace wait_detail

// Returns when ready() is true, when a stop flag is set, when the thread is interrupted, or at the
// deadline; ready() wins when several hold. `ready` is called often and must be cheap; it may do
// work (polling a transport).
template <typename Ready>
WaitEnd wait_until(const Waiter& waiter, Ready&& ready) {
  if (ready()) return WaitEnd::kReady;
  uint32_t moves = moves_of_this_thread;
  const uint32_t most_spins = waiter.budget->spins;
  for (uint32_t i = 0; i < most_spins; ++i) {
    wait_detail::relax();
    if (ready()) return WaitEnd::kReady;
  }
  const int64_t deadline_ms = wait_detail::deadline_of(waiter);
  uint32_t spins_left = 0;
  uint32_t spins_at_once = 0;
  for (uint32_t round = 0;;) {
    WaitEnd end{};
    bool over = false;
    const bool spins = spins_left > 0 && spins_at_once < wait_detail::kMostSpinsAtOnce;
    if (spins) {
      wait_detail::relax();
      --spins_left;
      ++spins_at_once;
    } else {
      spins_at_once = 0;
      over = wait_detail::slow_round(waiter, deadline_ms, round, end);
    }
    if (ready()) {
      if (over) wait_detail::came_after_all(end);
      return WaitEnd::kReady;
    }
    if (over) return end;
    if (moves != moves_of_this_thread) {
      moves = moves_of_this_thread;
      spins_left = most_spins;
      round = 0;
      continue;
    }
    if (spins) continue;
    const uint32_t this_round = round++;
    if (this_round < waiter.budget->yields || waiter.bell == nullptr) continue;
    const uint32_t rings = wait_detail::before_sleep(waiter);
    const bool done = ready();
    if (!done) {
      wait_detail::sleep(waiter, deadline_ms, rings, this_round - waiter.budget->yields);
    }
    wait_detail::after_sleep(waiter);
    if (done) return WaitEnd::kReady;
  }
}

// Calls step() until it says that it is done, and leaves the core to others between. Nothing
// interrupts it. False: that took too long.
template <typename Step>
bool yield_until(int64_t deadline_ms, const Step& step) {
  const SpinBudget budget{0, UINT32_MAX, false};  // the pause is sched_yield()
  Waiter waiter;
  waiter.budget = &budget;
  waiter.deadline_ms = deadline_ms;
  waiter.uninterrupted = true;
  return wait_until(waiter, step) == WaitEnd::kReady;
}

// Wakes the owner of `bell`, if it sleeps.
void ring(Bell& bell);
// Rings like ring(), after a store for which threads with such a budget may sleep.
void ring_after_store(Bell& bell, const SpinBudget& sleepers);
// Sleeps until somebody rings `bell`, or for so long, unless ready() is true already.
template <typename Ready>
void nap(Bell& bell, int64_t us, Ready&& ready) {
  const Waiter waiter{.bell = &bell, .budget = &kNoSpinning};
  const uint32_t rings = wait_detail::before_sleep(waiter);
  if (!ready()) wait_detail::sleep_for(bell, us, rings);
  wait_detail::after_sleep(waiter);
}
// Lets another thread run that may need this core for what the caller waits for.
void yield_core();
// Called once per process before it sleeps on shared bells; true if membarrier(2) orders wakers.
bool register_membarrier();

}  // namespace tutti
