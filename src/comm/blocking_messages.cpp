// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "comm/blocking_messages.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "comm/announced.hpp"

namespace tutti {

void BlockingMessages::run(std::span<BlockingMessage> messages) {
  std::span<BlockingMessage> pending = messages;
  bool others = false;
  {
    const std::lock_guard lock(endpoint_.lock());
    for (BlockingMessage& message : messages) endpoint_.post(message.arguments, message.transfer);
    others = advance(pending, 0);
    // Messages that come at once are not waited for, and the lock is taken but once.
    const uint32_t polls = std::min(endpoint_.settings().caller_budget.spins, kPollsAtOnce);
    for (uint32_t i = 0; i < polls && !pending.empty(); ++i) others |= advance(pending, 0);
  }
  if (others) endpoint_.wake_this_rank();
  if (!pending.empty()) wait(pending, messages);
  for (BlockingMessage& message : messages) {
    Status status =
        outcome(message.arguments, message.transfer, message.info, endpoint_.transport());
    if (!status.ok()) [[unlikely]]
      message.transfer.status = fetches_.settled(message, std::move(status));
  }
}

// Waits for the first of `pending`. Those of `all` that are done may have met announcements: what
// was announced is asked for meanwhile.
void BlockingMessages::wait(std::span<BlockingMessage> pending, std::span<BlockingMessage> all) {
  // Texts name the message if the wait is long.
  const PendingFirst message(pending, endpoint_);
  ReportedMessageWait reported(endpoint_.notes(), endpoint_.settings().wait_report, message);
  Waiter waiter = endpoint_.waiter();
  waiter.slow = &reported;
  endpoint_.count_blocked(1);
  const auto ended = [&] {
    if (poll(pending)) return true;
    fetches_.begin_announced(all);
    return false;
  };
  const WaitEnd end = wait_until(waiter, ended);
  endpoint_.count_blocked(-1);
  if (end == WaitEnd::kReady) return;
  if (end == WaitEnd::kInterrupted)
    endpoint_.health().interrupt(describe(pending.front().arguments, endpoint_.transport()));
  const std::lock_guard lock(endpoint_.lock());
  for (BlockingMessage& message : pending) {
    if (message.transfer.done) continue;
    endpoint_.give_up(message.transfer, end == WaitEnd::kDeadline
                                            ? endpoint_.late(message.arguments)
                                            : endpoint_.health().cause_for_call());
  }
}

// Whether all have ended.
bool BlockingMessages::poll(std::span<BlockingMessage>& pending) {
  bool others = false;
  {
    // Not try_lock: who is about to sleep has to see what the last holder did.
    const std::lock_guard lock(endpoint_.lock());
    others = advance(pending, 1);
  }
  if (others) endpoint_.wake_this_rank();
  return pending.empty();
}

// Takes messages that have ended from the front of `pending`. Returns whether messages of other
// threads may have moved, too; `blocked` threads in wait() are this one. Called with the lock.
bool BlockingMessages::advance(std::span<BlockingMessage>& pending, int blocked) {
  bool moved = false;
  while (!pending.empty() && poll_once(pending.front(), moved)) pending = pending.subspan(1);
  if (!moved) return false;
  if (!pending.empty()) note_move();
  return endpoint_.others_wait(blocked);
}

// Whether it has ended, after a poll if it had not; sets `moved` if that moved anything.
bool BlockingMessages::poll_once(BlockingMessage& message, bool& moved) {
  Transfer& transfer = message.transfer;
  if (transfer.done) return true;
  moved |= endpoint_.poll_for(transfer);
  return transfer.done;
}

}  // namespace tutti
