// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The endpoint of the user's messages. Those that block (comm/blocking_messages.hpp) and those that
// were started (comm/messages.hpp) share it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "comm/message_tag.hpp"
#include "comm/message_wait.hpp"
#include "core/brief_lock.hpp"
#include "exec/executor.hpp"

namespace tutti {

class MessageEndpoint {
 public:
  // Messages have the ranks, the time and the waits that the executor's calls have; it outlives
  // this.
  MessageEndpoint(std::unique_ptr<Endpoint> endpoint, const Executor& executor)
      : transport_(executor.transport()),
        health_(executor.health()),
        executor_(executor),
        notes_(transport_.notes(settings().context.rank, 0)),
        endpoint_(std::move(endpoint)) {}

  [[nodiscard]] Transport& transport() const { return transport_; }
  [[nodiscard]] Health& health() const { return health_; }
  [[nodiscard]] const ExecutorSettings& settings() const { return executor_.settings(); }
  [[nodiscard]] int64_t timeout_ms() const { return executor_.timeout_ms(); }
  [[nodiscard]] uint64_t eager_bytes() const { return endpoint_->eager_bytes(); }
  // The wait of a thread for a message of its own, and for what others end when the communicator
  // stops.
  [[nodiscard]] Waiter waiter() const {
    return health_.waiter(settings().caller_budget, !endpoint_->rings_bell(), timeout_ms());
  }
  [[nodiscard]] Waiter waiter_for_driven(const SpinBudget& budget) const {
    return health_.waiter_for_driven(budget, !endpoint_->rings_bell(), kNever);
  }
  // The notes of this rank's waits for messages.
  [[nodiscard]] MessageNotes& notes() { return notes_; }

  // A message that has come and that such a receive would take; none: there is none.
  Result<std::optional<MessageEnvelope>> probe(const MessageArguments& receive);
  // A message of its peer that has come and that no receive takes; for texts.
  [[nodiscard]] std::optional<MessageEnvelope> unexpected_by(const MessageArguments& arguments);
  // Tells the peers that no more messages come or are taken. Nothing is under way.
  void leave();

  // Whether a thread is using the endpoint.
  [[nodiscard]] bool held() const { return lock_.held(); }

  // ---- with the lock, which threads hold for moments
  [[nodiscard]] BriefLock& lock() { return lock_; }
  void post(const MessageArguments& arguments, Transfer& transfer) {
    const uint64_t bytes = arguments.count * type_size(arguments.type);
    if (arguments.sends) {
      return endpoint_->send(arguments.peer, tag_of(arguments), arguments.buffer, bytes, transfer);
    }
    const Tag mask = arguments.tag == TUTTI_ANY_TAG ? kHiddenTag : kMatchedTag;
    endpoint_->recv(arguments.peer == TUTTI_ANY_SOURCE ? kAnySource : arguments.peer,
                    tag_of(arguments), mask, arguments.buffer, bytes, transfer);
  }
  // Posts a send without its bytes, which announces the message by that number.
  void announce(const MessageArguments& arguments, uint32_t number, Transfer& transfer) {
    const Tag tag = tag_of(arguments) | static_cast<Tag>(number) << kAnnouncedShift;
    endpoint_->send(arguments.peer, tag, nullptr, 0, transfer);
  }
  // Moves what the transfer waits for; returns whether anything moved.
  bool poll_for(Transfer& transfer) { return endpoint_->poll_for(transfer); }
  // Ends a transfer that is not done: no buffer is touched afterwards.
  void give_up(Transfer& transfer, Status reason);
  // The error of a message whose time is up.
  [[nodiscard]] Status late(const MessageArguments& arguments) const;

  // So many more messages that were started are under way, or fewer.
  void count_started(ptrdiff_t more) { started_ += more; }
  // Whether what moves may be for others than so many blocked threads.
  [[nodiscard]] bool others_wait(int blocked) const {
    return has_blocked(blocked) || started_ != 0;
  }

  // ---- whoever waits
  void count_blocked(int more) { blocked_.fetch_add(more, std::memory_order_relaxed); }
  // Whether more than so many threads are blocked.
  [[nodiscard]] bool has_blocked(int blocked) const {
    return blocked_.load(std::memory_order_relaxed) > blocked;
  }
  // Wakes threads of this rank, for which messages may have moved.
  void wake_this_rank() const;

 private:
  [[nodiscard]] std::optional<MessageEnvelope> first_unexpected_by(
      const MessageArguments& arguments) const;

  Transport& transport_;
  Health& health_;
  const Executor& executor_;
  MessageNotes notes_;
  BriefLock lock_;
  const std::unique_ptr<Endpoint> endpoint_;  // guarded by lock_
  ptrdiff_t started_ = 0;                     // guarded by lock_
  std::atomic<int> blocked_{0};
};

}  // namespace tutti
