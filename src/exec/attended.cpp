// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What a thread of the application does for work that it started: it starts, looks in and waits.
#include "exec/attended.hpp"

#include <algorithm>

namespace tutti {

void Attended::visit() {
  habit().comes();
  help();
  goes_away();
}

void Attended::hasten() {
  for (int worker = 0; worker < workers_.size(); ++worker) {
    if (has_work(worker)) wake(worker);
  }
}

void Attended::started(bool listened_to) {
  if (listened_to) {
    hasten();
  } else {
    goes_away();
  }
}

// The application goes on with its own work.
void Attended::goes_away() {
  if (has_work(0) && habit().leaves()) wake(0);
}

bool Attended::ends_soon(const Completion& what, const Patience& of_caller) {
  habit().comes();
  const uint32_t polls = std::min(of_caller.spins, kPollsAtOnce);
  for (uint32_t i = 0; i < polls && !what.done(); ++i) help();
  if (!what.done()) return false;
  goes_away();
  return true;
}

WaitEnd Attended::attend(const Completion& what, const Waiter& waiter) {
  waiting_.fetch_add(1);
  const WaitEnd end = wait_until(waiter, [&] {
    if (what.done()) return true;
    help();
    if (what.done()) return true;
    if (held()) give_way();
    return false;
  });
  waiting_.fetch_sub(1);
  goes_away();
  return end;
}

}  // namespace tutti
