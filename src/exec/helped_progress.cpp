// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The help of the application's threads for operations that they have started.
#include "exec/helped_progress.hpp"

#include <algorithm>

#include "exec/health.hpp"

namespace tutti {

void HelpedProgress::help_from_application() {
  predictor().returns();
  help();
  application_leaves();
}

void HelpedProgress::wake_workers() {
  for (int worker = 0; worker < workers_.size(); ++worker) {
    if (has_work(worker)) wake(worker);
  }
}

void HelpedProgress::after_start(bool has_callback) {
  if (has_callback) {
    wake_workers();
  } else {
    application_leaves();
  }
}

// The application goes on with its own work: wakes the first worker if that may take long.
void HelpedProgress::application_leaves() {
  if (has_work(0) && predictor().leaves()) wake(0);
}

bool HelpedProgress::poll_briefly(const Completion& what) {
  predictor().returns();
  const uint32_t polls = std::min(caller_budget_.spins, kPollsAtOnce);
  for (uint32_t i = 0; i < polls && !what.done(); ++i) help();
  if (!what.done()) return false;
  application_leaves();
  return true;
}

WaitEnd HelpedProgress::help_until_done(const Completion& what, const Waiter& waiter) {
  waiting_.fetch_add(1);
  const WaitEnd end = wait_until(waiter, [&] {
    if (what.done()) return true;
    help();
    if (what.done()) return true;
    if (held()) yield_core();
    return false;
  });
  waiting_.fetch_sub(1);
  application_leaves();
  return end;
}

void HelpedProgress::end_after_interrupt(const Completion& what, Waiter waiter, Health& health,
                                         std::string_view name) {
  health.interrupt(name);
  waiter.timeout_ms = kNever;
  waiter.uninterrupted = true;
  (void)help_until_done(what, waiter);
}

Status HelpedProgress::help_until_idle(Health& health, Waiter waiter, std::string_view what) {
  const auto nothing_left = [this] {
    help();
    return idle();
  };
  const WaitEnd end = wait_until(waiter, nothing_left);
  if (end == WaitEnd::kReady) return {};
  if (end == WaitEnd::kInterrupted) {
    health.interrupt("destroying it");
    waiter.timeout_ms = kNever;
    waiter.uninterrupted = true;
    (void)wait_until(waiter, nothing_left);
    return health.cause();
  }
  return Status::format(Code::kTimeout, "{} still outstanding: {}", what, outstanding());
}

}  // namespace tutti
