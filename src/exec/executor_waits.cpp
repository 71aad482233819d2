// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How threads wait for operations that are queued.
#include "exec/executor.hpp"
#include "exec/probes.hpp"

namespace tutti {

Status Executor::wait(Operation& operation, int64_t timeout_ms) {
  if (poll_briefly(operation, settings_.caller_budget)) return operation.status();
  operation.note_waiter();
  // The first worker leaves its lane to this thread; if others have work, they may want the core.
  const bool alone = queues_.size() == 1 && !workers_.busy();
  Waiter waiter = waiter_with(alone ? settings_.caller_budget : settings_.worker_budget);
  waiter.timeout_ms = timeout_ms;
  // The thread that drives the operation ends it when the communicator stops, so do not stop here.
  waiter.stop = nullptr;
  waiter.shared_stop = nullptr;
  TUTTI_PROBE(wait_begin, settings_, operation.sequence_);
  const auto name = [&] { return describe(record_of(operation.call_, operation.sequence_)); };
  const WaitEnd end = help_to_end(operation, waiter, health_, name);
  TUTTI_PROBE(wait_end, settings_, operation.sequence_);
  if (end == WaitEnd::kInterrupted && operation.status().ok()) {
    return why_stopped(operation.call_, operation.sequence_);
  }
  if (end != WaitEnd::kDeadline) return operation.status();
  return Status::format(Code::kTimeout, "{} is not complete after {} ms", name(), timeout_ms);
}

Status Executor::drain() {
  Waiter waiter = waiter_with(settings_.caller_budget);
  waiter.stop = nullptr;
  waiter.shared_stop = nullptr;
  return help_until_idle(health_, waiter, "operations");
}

Waiter Executor::waiter() const {
  Waiter waiter = waiter_with(settings_.worker_budget);
  // A worker waits for whatever comes first, and looks at every operation's own deadline.
  waiter.timeout_ms = kNever;
  return waiter;
}

Waiter Executor::waiter_with(const SpinBudget& budget) const {
  Waiter waiter{.bell = transport_.bell(rank_),
                .sleepers = transport_.sleepers(),
                .budget = &budget,
                .timeout_ms = timeout_ms(),
                .polls = settings_.polls};
  health_.attach(waiter);
  return waiter;
}

}  // namespace tutti
