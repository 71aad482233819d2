// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Keeps the first cause of a failure, writes it where the ranks of the host see it, wakes all.
#include "exec/health.hpp"

#include <algorithm>
#include <cstring>

#include "core/caught.hpp"
#include "core/fields.hpp"
#include "transports/names.hpp"

namespace tutti {
namespace {

// The time for a rank that writes a cause to end its text. A few hundred bytes take no
// longer, unless it has died.
constexpr int64_t kTextMs = 5;
constexpr SpinBudget kTextBudget{.spins = 1000, .yields = 1000};

// Any process of the host may have written over it, so nothing there is taken for granted.
Status cause_in(const SharedState& shared) {
  const auto code = static_cast<Code>(shared.cause_code);
  if (!is_error(code)) {
    return Status::format(Code::kInternal,
                          "the communicator's shared state is corrupt: it is stopped, with the "
                          "cause {}, which is no error code",
                          shared.cause_code);
  }
  return {code, text_of(shared.cause_text)};
}

}  // namespace

Health::Health(int rank, Transport& transport)
    : rank_(rank), transport_(transport), shared_(transport.recovery().shared_state()) {}

Status Health::cause() const {
  const std::lock_guard lock(mutex_);
  // A cause that a peer shared came before ours whenever both exist: fail() shares first.
  if (cause_.ok() && shared_ != nullptr && shared_->stop.load(std::memory_order_acquire) != 0) {
    Status cause = cause_in(*shared_);
    transport_.recovery().has_failed(cause.code());
    return cause;
  }
  return cause_;
}

void Health::abort(std::string_view reason) {
  fail(Status::format(Code::kAborted, "aborted by {}{}{}",
                      name_of(rank_, transport_.process(rank_)), reason.empty() ? "" : ": ",
                      reason));
}

void Health::interrupt(std::string_view where) { abort(fmt::format("interrupted in {}", where)); }

void Health::lack(const Status& what) {
  fail(what.with_context(short_name_of(rank_, transport_.process(rank_))));
}

void Health::fail_by_exception(std::string_view where) noexcept {
  Status cause = caught_exception();
  try {
    const std::string rank = short_name_of(rank_, transport_.process(rank_));
    cause = cause.with_context(fmt::format("{} in {}", rank, where));
  } catch (...) {  // without the context
  }
  try {
    fail(cause);
  } catch (...) {  // here it has; whom no memory was left to tell finds out when this rank leaves
  }
}

void Health::fail(const Status& cause) {
  // The cause that a rank of this host shared before counts, here and elsewhere.
  if (!stop_for(cause, false)) return;
  if (tell_) tell_(this->cause());
  report(false);
}

void Health::learn(const Status& cause) {
  if (stop_for(cause, true)) report(true);
}

void Health::announce(const Status& cause, bool heard) const {
  if (announce_) announce_(cause, heard);
}

// Reports the cause if it is this rank's own. One of the ranks of a host has it.
void Health::report(bool heard) {
  if (!report_) return;
  Status own;
  {
    const std::lock_guard lock(mutex_);
    own = cause_;
  }
  if (!own.ok()) report_(own, heard);
}

// Returns whether this was the first cause that this rank has.
bool Health::stop_for(const Status& cause, bool heard) {
  {
    const std::lock_guard lock(mutex_);
    if (!cause_.ok()) return false;
    share(cause, heard);
    if (shared_ == nullptr || shared_->cause_rank == static_cast<uint32_t>(rank_)) cause_ = cause;
  }
  transport_.recovery().has_failed(cause.code());
  stop_.store(1, std::memory_order_release);
  // The fence is unconditional: a sleeper must not miss this one.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  transport_.notify();
  return true;
}

void Health::share(const Status& cause, bool heard) {
  if (shared_ == nullptr) return announce(cause, heard);
  if (shared_->cause_lock.exchange(1, std::memory_order_acq_rel) != 0) {
    // Another rank is writing, or has written, an earlier cause. It may also have died on the way:
    // wait a moment for its text, then do without.
    wait_until(Waiter{.budget = &kTextBudget, .timeout_ms = kTextMs, .uninterrupted = true},
               [this] { return shared_->stop.load(std::memory_order_acquire) != 0; });
    if (shared_->stop.load(std::memory_order_acquire) != 0) return;
  }
  const std::string_view text = cause.message().substr(0, sizeof shared_->cause_text - 1);
  std::copy(text.begin(), text.end(), shared_->cause_text);
  shared_->cause_text[text.size()] = '\0';
  shared_->cause_code = static_cast<uint32_t>(cause.code());
  shared_->cause_rank = static_cast<uint32_t>(rank_);
  announce(cause, heard);
  shared_->stop.store(1, std::memory_order_release);
}

}  // namespace tutti
