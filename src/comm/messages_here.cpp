// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Messages that the thread which makes them sees to their end.
#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

#include "comm/announced.hpp"
#include "comm/messages.hpp"

namespace tutti {

void Messages::post(const MessageArguments& arguments, Transfer& transfer) {
  const uint64_t bytes = arguments.count * type_size(arguments.type);
  if (arguments.sends) {
    return endpoint_->send(arguments.peer, tag_of(arguments), arguments.buffer, bytes, transfer);
  }
  const Tag mask = arguments.tag == TUTTI_ANY_TAG ? kHiddenTag : kMatchedTag;
  endpoint_->recv(arguments.peer == TUTTI_ANY_SOURCE ? kAnySource : arguments.peer,
                  tag_of(arguments), mask, arguments.buffer, bytes, transfer);
}

void Messages::run(std::span<BlockingMessage> messages) {
  if (health_.stopped()) {
    for (BlockingMessage& message : messages) {
      message.transfer.status =
          health_.cause_for_call().with_context(describe(message.arguments, transport_));
    }
  } else if (idle()) {
    run_here(messages);
  } else {
    run_queued(messages);
  }
}

void Messages::run_here(std::span<BlockingMessage> messages) {
  std::span<BlockingMessage> pending = messages;
  bool others = false;
  {
    const std::lock_guard lock(lock_);
    for (BlockingMessage& message : messages) post(message.arguments, message.transfer);
    others = advance(pending, 0);
    // Messages that come at once are not waited for, and the lock is taken but once.
    const uint32_t polls = std::min(caller_budget_.spins, kPollsAtOnce);
    for (uint32_t i = 0; i < polls && !pending.empty(); ++i) others |= advance(pending, 0);
  }
  if (others) wake_this_rank();
  if (!pending.empty()) wait_here(pending, messages);
  for (BlockingMessage& message : messages) {
    Status status = outcome(message.arguments, message.transfer, message.info, transport_);
    if (!status.ok()) [[unlikely]]
      message.transfer.status = fetches_->settled(message, std::move(status));
  }
}

// Waits for the first of `pending`. Those of `all` that are done may have met announcements: what
// was announced is asked for meanwhile.
void Messages::wait_here(std::span<BlockingMessage> pending, std::span<BlockingMessage> all) {
  // Texts name the message if the wait is long.
  const PendingFirst message(pending, transport_, *this);
  ReportedMessageWait reported(notes_, wait_report_, message);
  Waiter waiter = health_.waiter(caller_budget_, !endpoint_->rings_bell(), executor_.timeout_ms());
  waiter.slow = &reported;
  waiting_here_.fetch_add(1, std::memory_order_relaxed);
  const auto ended = [&] {
    if (poll_here(pending)) return true;
    fetches_->begin_announced(all);
    return false;
  };
  const WaitEnd end = wait_until(waiter, ended);
  waiting_here_.fetch_sub(1, std::memory_order_relaxed);
  if (end == WaitEnd::kReady) return;
  if (end == WaitEnd::kInterrupted)
    health_.interrupt(describe(pending.front().arguments, transport_));
  const std::lock_guard lock(lock_);
  for (BlockingMessage& message : pending) {
    if (message.transfer.done) continue;
    give_up(message.transfer,
            end == WaitEnd::kDeadline ? late(message.arguments) : health_.cause_for_call());
  }
}

// Whether all have ended.
bool Messages::poll_here(std::span<BlockingMessage>& pending) {
  bool others = false;
  {
    // Not try_lock: who is about to sleep has to see what the last holder did.
    const std::lock_guard lock(lock_);
    others = advance(pending, 1);
  }
  if (others) wake_this_rank();
  return pending.empty();
}

// Takes messages that have ended from the front of `pending`. Returns whether messages of other
// threads may have moved, too; `waiting` threads in wait_here() are this one. Called with the lock.
bool Messages::advance(std::span<BlockingMessage>& pending, int waiting) {
  bool moved = false;
  while (!pending.empty() && ends_now(pending.front(), moved)) pending = pending.subspan(1);
  if (!moved) return false;
  if (!pending.empty()) note_move();
  return waiting_here_.load(std::memory_order_relaxed) > waiting || !active_.empty();
}

// Whether it has ended, after a poll if it had not; sets `moved` if that moved anything.
bool Messages::ends_now(BlockingMessage& message, bool& moved) {
  Transfer& transfer = message.transfer;
  if (transfer.done) return true;
  moved |= endpoint_->poll_for(transfer);
  return transfer.done;
}

void Messages::run_queued(std::span<BlockingMessage> messages) {
  std::deque<Message> queued;
  for (BlockingMessage& message : messages) queued.emplace_back(*this, message.arguments);
  for (Message& message : queued) {
    try {
      start(message);
    } catch (const std::bad_alloc&) {  // messages that have begun must be seen to their end
      message.fail({Code::kOutOfMemory, "no memory to begin it"});
    }
  }
  for (size_t i = 0; i < messages.size(); ++i) {
    messages[i].transfer.status = wait(queued[i], kNever);
    if (messages[i].info != nullptr && messages[i].status().ok()) {
      *messages[i].info = queued[i].received();
    }
  }
}

}  // namespace tutti
