// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Sends and receives of the user: made at once in the caller's thread, or started and polled.
#include "comm/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

#include "core/clock.hpp"
#include "transports/names.hpp"

namespace tutti {
namespace {

// A message's tag: the user's in the low 31 bits, the element type above, so that a receive can
// match by the first and compare the second.
constexpr Tag kUserTag = 0x7fffffff;
constexpr int kTypeShift = 32;

// Which of many started messages have ended is looked up for a part of the time only, or each one
// that ends would cost a look at all: so many times as long apart as a look takes.
constexpr size_t kFewActive = 64;
constexpr double kLookApart = 8;

Tag tag_of(const MessageArguments& arguments) {
  return static_cast<Tag>(arguments.type) << kTypeShift |
         (arguments.tag == TUTTI_ANY_TAG ? 0 : static_cast<Tag>(arguments.tag));
}

std::string type_name_of(Tag tag) {
  const uint64_t type = tag >> kTypeShift;
  return type < kDataTypes ? std::string(type_name(static_cast<DataType>(type)))
                           : fmt::format("type {}", type);
}

}  // namespace

std::string describe(const MessageArguments& arguments, const Transport& transport) {
  const std::string peer = arguments.peer == TUTTI_ANY_SOURCE
                               ? "any rank"
                               : short_name_of(arguments.peer, transport.process(arguments.peer));
  const std::string tag =
      arguments.tag == TUTTI_ANY_TAG ? "any tag" : fmt::format("tag {}", arguments.tag);
  return fmt::format("{} ({} {} {} {}, {})", arguments.sends ? "send" : "recv", arguments.count,
                     type_name(arguments.type), arguments.sends ? "to" : "from", peer, tag);
}

namespace {

Status refusal_of(const MessageArguments& arguments, const Transfer& transfer,
                  const Transport& transport) {
  if (!transfer.status.ok()) return transfer.status.with_context(describe(arguments, transport));
  return Status::format(Code::kMismatch, "{}: {} sent {}", describe(arguments, transport),
                        short_name_of(transfer.source, transport.process(transfer.source)),
                        type_name_of(transfer.tag));
}

// Of a transfer that is done; what came of a receive is noted if somebody asks.
[[gnu::always_inline]] inline Status outcome(const MessageArguments& arguments,
                                             const Transfer& transfer, tutti_recv_info* received,
                                             const Transport& transport) {
  const bool of_its_type =
      arguments.sends || transfer.tag >> kTypeShift == static_cast<Tag>(arguments.type);
  if (!transfer.status.ok() || !of_its_type) [[unlikely]]
    return refusal_of(arguments, transfer, transport);
  if (!arguments.sends && received != nullptr) {
    *received = {.source = transfer.source,
                 .tag = static_cast<int>(transfer.tag & kUserTag),
                 .count = transfer.bytes / type_size(arguments.type)};
  }
  return {};
}

}  // namespace

Status Message::start(StartedFor whom) { return messages_.submit(*this, whom); }
Status Message::wait(int64_t timeout_ms) { return messages_.wait(*this, timeout_ms); }
void Message::help() { messages_.visit(); }
void Message::hasten() { messages_.hasten(); }

Messages::Messages(int rank, Transport& transport, std::unique_ptr<Endpoint> endpoint,
                   Health& health, Executor& executor, WorkerPool& workers,
                   const SpinBudget& caller_budget, const SpinBudget& worker_budget,
                   const LatenessSettings& lateness)
    : HelpedProgress(workers),
      rank_(rank),
      transport_(transport),
      health_(health),
      executor_(executor),
      caller_budget_(caller_budget),
      worker_budget_(worker_budget),
      lateness_(lateness),
      notes_(transport.notes(rank, 0)),
      endpoint_(std::move(endpoint)) {}

Messages::~Messages() { workers_.forget(*this); }

void Messages::run(std::span<BlockingMessage> messages) {
  if (health_.stopped()) {
    for (BlockingMessage& message : messages) {
      message.transfer.status =
          health_.cause().with_context(describe(message.arguments, transport_));
    }
  } else if (outstanding_.load(std::memory_order_acquire) == 0) {
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
    // What comes at once is not waited for: 0.02 us less with the lock taken but once.
    const uint32_t polls = std::min(caller_budget_.spins, kPollsAtOnce);
    for (uint32_t i = 0; i < polls && !pending.empty(); ++i) others |= advance(pending, 0);
  }
  if (others) wake_this_rank();
  if (!pending.empty()) wait_here(pending);
  for (BlockingMessage& message : messages) {
    Status status = outcome(message.arguments, message.transfer, message.info, transport_);
    if (!status.ok()) [[unlikely]]
      message.transfer.status = std::move(status);
  }
}

void Messages::wait_here(std::span<BlockingMessage> pending) {
  // Of those that are pending, the first.
  const AwaitingMessage message(pending.front().arguments, transport_);
  LastingMessage lasting(notes_, lateness_, message);
  Waiter waiter = this->waiter(caller_budget_);
  waiter.slow = &lasting;
  health_.attach(waiter);
  waiter.timeout_ms = executor_.timeout_ms();
  waiting_here_.fetch_add(1, std::memory_order_relaxed);
  const WaitEnd end = wait_until(waiter, [&] { return poll_here(pending); });
  waiting_here_.fetch_sub(1, std::memory_order_relaxed);
  if (end == WaitEnd::kReady) return;
  if (end == WaitEnd::kInterrupted)
    health_.interrupt(describe(pending.front().arguments, transport_));
  const std::lock_guard lock(lock_);
  for (BlockingMessage& message : pending) {
    if (message.transfer.done) continue;
    give_up(message.transfer, end == WaitEnd::kDeadline ? late() : health_.cause());
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

// Those at the front of `pending` that have ended leave it. Whether that may have moved messages of
// other threads, too; `waiting` of those in wait_here() are this one. With the lock.
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
  if (endpoint_->poll_for(transfer)) {
    moved = true;
  } else if (Status gone = peer_is_gone(message.arguments, transfer); !gone.ok()) {
    give_up(transfer, std::move(gone));
  }
  return transfer.done;
}

void Messages::run_queued(std::span<BlockingMessage> messages) {
  std::deque<Message> queued;
  for (BlockingMessage& message : messages) queued.emplace_back(*this, message.arguments);
  for (Message& message : queued) {
    try {
      start(message);
    } catch (const std::bad_alloc&) {  // those that have begun must be seen to their end
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

Status Messages::submit(Message& message, StartedFor whom) {
  if (health_.stopped())
    return health_.cause().with_context(describe(message.arguments_, transport_));
  starts();
  const bool listened_to = message.reset();
  start(message);
  if (whom == StartedFor::kCaller) return {};
  started(listened_to);
  return {};
}

// Only posts it, and polls nothing: a long message that has come would be copied before the next
// one is posted, which the peer may wait for.
void Messages::start(Message& message) {
  message.transfer_ = {};
  {
    const std::lock_guard lock(lock_);
    // What has been posted must be in the list.
    if (active_.size() == active_.capacity()) active_.reserve(2 * active_.size() + 8);
    post(message.arguments_, message.transfer_);
    if (!message.transfer_.done) {
      message.deadline_ms_ = rough_deadline_ms(executor_.timeout_ms());
      active_.push_back(&message);
      outstanding_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  }
  message.complete_at_once(
      outcome(message.arguments_, message.transfer_, &message.received_, transport_));
}

void Messages::post(const MessageArguments& arguments, Transfer& transfer) {
  const uint64_t bytes = arguments.count * type_size(arguments.type);
  if (arguments.sends) {
    return endpoint_->send(arguments.peer, tag_of(arguments), arguments.buffer, bytes, transfer);
  }
  const Tag mask = arguments.tag == TUTTI_ANY_TAG ? 0 : kUserTag;
  endpoint_->recv(arguments.peer == TUTTI_ANY_SOURCE ? kAnySource : arguments.peer,
                  tag_of(arguments), mask, arguments.buffer, bytes, transfer);
}

bool Messages::drive(int worker) { return needs(worker) && push(); }

bool Messages::push() {
  if (outstanding_.load(std::memory_order_acquire) == 0) return false;
  Message* ended = nullptr;
  {
    // Whoever holds it is polling.
    const std::unique_lock lock(lock_, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    ended = poll_locked();
  }
  const bool any = ended != nullptr;
  while (ended != nullptr) end(*std::exchange(ended, ended->next_ended_));
  return any;
}

// What nobody here waits for stays where it is: if its receive is yet to come, as that of a peer's
// next call, it would be kept aside, and copied once more.
bool Messages::poll_for_active() {
  bool moved = false;
  for (Message* message : active_) {
    if (message->transfer_.done) continue;
    moved |= endpoint_->poll_for(message->transfer_);
    if (!message->transfer_.done) break;
  }
  return moved;
}

// Moves data; takes out of active_, and gives in a list, what is done or has to be given up.
Message* Messages::poll_locked() {
  try {
    if (poll_for_active()) {
      note_move();
      if (waiting_here_.load(std::memory_order_relaxed) > 0) wake_this_rank();
    }
  } catch (...) {
    health_.fail_by_exception("its messages");
  }
  if (active_.size() <= kFewActive) [[likely]]
    return take_ended();
  const double begun_s = now_s();
  if (begun_s < next_look_s_) return nullptr;
  Message* const ended = take_ended();
  const double now = now_s();
  next_look_s_ = now + kLookApart * (now - begun_s);
  return ended;
}

Message* Messages::take_ended() {
  Message* first = nullptr;
  Message** last = &first;
  std::erase_if(active_, [&](Message* message) {
    if (!is_over(*message)) return false;
    *last = message;
    last = &message->next_ended_;
    *last = nullptr;
    return true;
  });
  return first;
}

// Whether it is done; gives it up if it has to be.
bool Messages::is_over(Message& message) {
  if (message.transfer_.done) return true;
  Status reason;
  if (health_.stopped()) {
    reason = health_.cause();
  } else if (message.deadline_ms_ != kNever && rough_ms() >= message.deadline_ms_) {
    reason = late();
  } else {
    reason = peer_is_gone(message.arguments_, message.transfer_);
  }
  if (!reason.ok()) give_up(message.transfer_, std::move(reason));
  return message.transfer_.done;
}

// An error if the peer has left and the transfer is not done even so. Endpoints over a network end
// such transfers themselves: there, what a peer has sent need not be here when it has left.
Status Messages::peer_is_gone(const MessageArguments& arguments, const Transfer& transfer) {
  if (!endpoint_->rings()) return {};
  const int peer = arguments.peer;
  if (peer == TUTTI_ANY_SOURCE || peer == rank_ || !executor_.has_left(peer)) return {};
  // What the peer sent before it left has arrived by now: take it all in.
  while (endpoint_->poll()) {
  }
  if (transfer.done) return {};
  return {Code::kPeerFailed,
          name_of(peer, transport_.process(peer)) + " has destroyed its communicator"};
}

void Messages::leave() {
  const std::lock_guard lock(lock_);
  endpoint_->leave({});
}

Status Messages::late() const {
  return Status::format(Code::kTimeout, "nothing came of it in {} ms", executor_.timeout_ms());
}

void Messages::give_up(Transfer& transfer, Status reason) {
  endpoint_->cancel(transfer);
  transfer.done = true;
  transfer.status = std::move(reason);
}

void Messages::end(Message& message) {
  message.complete(outcome(message.arguments_, message.transfer_, &message.received_, transport_));
  wake_this_rank();
  outstanding_.fetch_sub(1, std::memory_order_release);
}

void Messages::wake_this_rank() { ring_after_store(*transport_.bell(rank_), caller_budget_); }

Status Messages::wait(Message& message, int64_t timeout_ms) {
  if (message.done() || ends_soon(message, caller_budget_)) return message.status();
  const AwaitingMessage awaiting(message.arguments_, transport_);
  LastingMessage lasting(notes_, lateness_, awaiting);
  Waiter waiter = this->waiter(caller_budget_);
  waiter.slow = &lasting;
  waiter.timeout_ms = timeout_ms;
  const WaitEnd end = help_until_done(message, waiter);
  if (end == WaitEnd::kReady) return message.status();
  if (end == WaitEnd::kInterrupted) {
    health_.interrupt(describe(message.arguments_, transport_));
    waiter.timeout_ms = kNever;
    waiter.uninterrupted = true;
    (void)help_until_done(message, waiter);
    return message.status().ok() ? health_.cause() : message.status();
  }
  return Status::format(Code::kTimeout, "{} is not complete after {} ms",
                        describe(message.arguments_, transport_), timeout_ms);
}

Status Messages::drain() {
  Waiter waiter = this->waiter(caller_budget_);
  waiter.timeout_ms = executor_.timeout_ms();
  const auto nothing_left = [&] {
    help();
    return outstanding_.load(std::memory_order_acquire) == 0;
  };
  const WaitEnd end = wait_until(waiter, nothing_left);
  if (end == WaitEnd::kReady) return {};
  if (end == WaitEnd::kInterrupted) {
    health_.interrupt("destroying it");
    waiter.timeout_ms = kNever;
    waiter.uninterrupted = true;
    (void)wait_until(waiter, nothing_left);
    return health_.cause();
  }
  return Status::format(Code::kTimeout, "{} messages are still outstanding", outstanding_.load());
}

bool Messages::has_work(int worker) const {
  return worker == 0 && outstanding_.load(std::memory_order_acquire) != 0;
}

// No stop flags: poll_locked() looks at them, and ends every message when they are set.
Waiter Messages::waiter(const SpinBudget& budget) const {
  return {.bell = transport_.bell(rank_),
          .sleepers = transport_.sleepers(),
          .budget = &budget,
          .polls = !endpoint_->rings()};
}

}  // namespace tutti
