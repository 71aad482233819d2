// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How an owner of operations waits for the last of them before it is destroyed.
#pragma once

#include <atomic>
#include <string_view>

#include "core/wait.hpp"
#include "exec/health.hpp"

namespace tutti {

// Waits, and calls help() meanwhile, until none is outstanding; `what` names them. A timeout, if
// the waiter's limit passes. An interrupt breaks the communicator, which ends all of them: its
// cause.
template <typename Help>
Status drain_operations(Health& health, Waiter waiter, const std::atomic<size_t>& outstanding,
                        std::string_view what, const Help& help) {
  const auto nothing_left = [&] {
    help();
    return outstanding.load(std::memory_order_acquire) == 0;
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
  return Status::format(Code::kTimeout, "{} still outstanding: {}", what, outstanding.load());
}

}  // namespace tutti
