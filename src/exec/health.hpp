// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Whether a communicator still works, and if not, why: the first cause, here and on every rank of
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

  // One or two loads of lines that are nearly always cached.
  [[nodiscard]] bool stopped() const {
    return stop_.load(std::memory_order_acquire) != 0 ||
           (shared_ != nullptr && shared_->stop.load(std::memory_order_acquire) != 0);
  }
  // The first cause; ok while !stopped().
  [[nodiscard]] Status cause() const;
  // Breaks the communicator for all its ranks, unless it is broken already, and wakes whoever
  // waits.
  void fail(const Status& cause);
  // The same for a cause that ranks on other hosts know of already.
  void learn(const Status& cause);
  // The same on behalf of this rank's user, who wants it to end, or no longer waits for what it was
  // about.
  void abort(std::string_view reason);
  void interrupt(std::string_view where);
  // The same where this rank cannot go on for lack of something.
  void lack(const Status& what);
  // The same for the exception that is being handled, in the call that is named.
  void fail_by_exception(std::string_view where) noexcept;
  // How ranks on other hosts are told; called once at most. Set before any other thread comes.
  void tell_others_by(std::function<void(const Status& cause)> tell) { tell_ = std::move(tell); }

  // Is told once, if this rank is the first of its host to know; so is set.
  void report_by(std::function<void(const Status& cause)> report) { report_ = std::move(report); }

  // What every wait on this communicator has to look at.
  void attach(Waiter& waiter) const {
    waiter.stop = &stop_;
    waiter.shared_stop = shared_ != nullptr ? &shared_->stop : nullptr;
  }

 private:
  bool stop_for(const Status& cause);
  void report();
  void share(const Status& cause);

  const int rank_;
  Transport& transport_;
  SharedState* const shared_;
  std::atomic<uint32_t> stop_{0};
  std::function<void(const Status&)> tell_;
  std::function<void(const Status&)> report_;
  mutable std::mutex mutex_;
  Status cause_;  // guarded by mutex_
};

}  // namespace tutti
