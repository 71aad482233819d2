// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Whether a communicator still works; if not, the first cause, which is the same on all ranks of
// the host. Any thread.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>

#include "core/status.hpp"
#include "transports/transport.hpp"

namespace tutti {

class Health {
 public:
  // `transport` outlives it.
  Health(int rank, Transport& transport);

  // Costs one or two loads of lines that are nearly always cached.
  [[nodiscard]] bool stopped() const {
    return stop_.load(std::memory_order_acquire) != 0 ||
           (shared_ != nullptr && shared_->stop.load(std::memory_order_acquire) != 0);
  }
  // The first cause; ok while !stopped().
  [[nodiscard]] Status cause() const;
  // The cause, with which a call of this rank ends.
  [[nodiscard]] Status cause_for_call() {
    has_ended_a_call_.store(true, std::memory_order_relaxed);
    return cause();
  }
  // Whether one has: what this rank calls from then on may be its answer to the failure.
  [[nodiscard]] bool has_ended_a_call() const {
    return has_ended_a_call_.load(std::memory_order_relaxed);
  }
  // Breaks the communicator for all its ranks, unless it is broken already, and wakes all threads
  // that wait.
  void fail(const Status& cause);
  // Calls fail() for a cause that ranks on other hosts know of already.
  void learn(const Status& cause);
  // Call fail() for the user of this rank, who aborts the communicator, or whose interrupt has
  // ended a wait (`where` names it).
  void abort(std::string_view reason);
  void interrupt(std::string_view where);
  // Calls fail() if this rank cannot go on: it lacks memory or another resource.
  void lack(const Status& what);
  // Calls fail() for the exception that is being handled, in the call that is named.
  void fail_by_exception(std::string_view where) noexcept;
  // Sets how ranks on other hosts are told: called at most once. Set before other threads use this.
  void tell_others_by(std::function<void(const Status& cause)> tell) { tell_ = std::move(tell); }

  // Sets the functions that tell the user of the cause, if this rank is the first of its host to
  // know. `heard`: ranks on other hosts know of it already. announce() says it at once, before any
  // waiting thread learns of it and perhaps ends the process. report() says more, afterwards. It is
  // called at most once, before other threads use this, too.
  using Tell = std::function<void(const Status& cause, bool heard)>;
  void report_by(Tell announce, Tell report) {
    announce_ = std::move(announce);
    report_ = std::move(report);
  }

  // A wait of this rank on the communicator, which ends when that stops.
  [[nodiscard]] Waiter waiter(const SpinBudget& budget, bool polls, int64_t timeout_ms) const {
    Waiter waiter = waiter_for_driven(budget, polls, timeout_ms);
    waiter.stop = &stop_;
    waiter.shared_stop = shared_ != nullptr ? &shared_->stop : nullptr;
    return waiter;
  }
  // The waiter for what its driving thread ends when the communicator stops.
  [[nodiscard]] Waiter waiter_for_driven(const SpinBudget& budget, bool polls,
                                         int64_t timeout_ms) const {
    return {.bell = transport_.bell(rank_),
            .sleepers = transport_.sleepers(),
            .budget = &budget,
            .timeout_ms = timeout_ms,
            .polls = polls};
  }

 private:
  bool stop_for(const Status& cause, bool heard);
  void report(bool heard);
  void share(const Status& cause, bool heard);
  void announce(const Status& cause, bool heard) const;

  const int rank_;
  Transport& transport_;
  SharedState* const shared_;
  std::atomic<uint32_t> stop_{0};
  std::atomic<bool> has_ended_a_call_{false};
  std::function<void(const Status&)> tell_;
  Tell announce_;
  Tell report_;
  mutable std::mutex mutex_;
  Status cause_;  // guarded by mutex_
};

}  // namespace tutti
