// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What a thread of the application does for work that it started: it starts, looks in and waits.
#include "exec/helped_progress.hpp"

#include <algorithm>

namespace tutti {

void HelpedProgress::visit() {
  predictor().returns();
  help();
  goes_away();
}

void HelpedProgress::hasten() {
  for (int worker = 0; worker < workers_.size(); ++worker) {
    if (has_work(worker)) wake(worker);
  }
}

void HelpedProgress::started(bool listened_to) {
  if (listened_to) {
    hasten();
  } else {
    goes_away();
  }
}

// The application goes on with its own work.
void HelpedProgress::goes_away() {
  if (has_work(0) && predictor().leaves()) wake(0);
}

bool HelpedProgress::ends_soon(const Completion& what, const SpinBudget& of_caller) {
  predictor().returns();
  const uint32_t polls = std::min(of_caller.spins, kPollsAtOnce);
  for (uint32_t i = 0; i < polls && !what.done(); ++i) help();
  if (!what.done()) return false;
  goes_away();
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
  goes_away();
  return end;
}

}  // namespace tutti
