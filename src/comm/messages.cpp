// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Messages that are started, polled by whoever has time, and waited for.
#include "comm/messages.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "comm/announced.hpp"
#include "core/clock.hpp"
#include "transports/names.hpp"

namespace tutti {
namespace {

// Looking through many started messages for those that have ended costs time. So a look comes only
// after so many times as long as the last one took.
constexpr size_t kFewActive = 64;
constexpr double kLookApart = 8;

}  // namespace

Status Message::start(StartedFor whom) { return messages_.submit(*this, whom); }
Status Message::wait_inside(int64_t timeout_ms) { return messages_.wait(*this, timeout_ms); }
HelpedProgress& Message::progress() const { return messages_; }
bool Message::cancel() {
  if (done() || !messages_.cancel(*this)) return false;
  (void)wait(kNever);
  return true;
}

Messages::Messages(int rank, Transport& transport, std::unique_ptr<Endpoint> endpoint,
                   Health& health, Executor& executor, WorkerPool& workers,
                   const SpinBudget& caller_budget, const SpinBudget& worker_budget,
                   const WaitReportSettings& wait_report)
    : HelpedProgress(workers),
      rank_(rank),
      transport_(transport),
      health_(health),
      executor_(executor),
      caller_budget_(caller_budget),
      worker_budget_(worker_budget),
      wait_report_(wait_report),
      notes_(transport.notes(rank, 0)),
      endpoint_(std::move(endpoint)),
      fetches_(std::make_unique<Fetches>(*this)) {}

Messages::~Messages() { workers_forget_this(); }

Status Messages::submit(Message& message, StartedFor whom) {
  if (health_.stopped())
    return health_.cause_for_call().with_context(describe(message.arguments_, transport_));
  application_calls();
  const bool has_callback = start(message);
  if (whom == StartedFor::kCaller) return {};
  after_start(has_callback);
  return {};
}

// Only posts the message and polls nothing. A poll might copy a long message that has come before
// the next one is posted, which the peer may wait for. Returns as Completion::reset().
bool Messages::start(Message& message) {
  return start_by(message, [&] { post(message.arguments_, message.transfer_); });
}

template <typename Post>
bool Messages::start_by(Message& message, const Post& post) {
  const bool has_callback = message.reset();
  message.transfer_ = {};
  message.transfer_.synchronous = message.arguments_.synchronous;
  Status status;
  try {
    const std::lock_guard lock(lock_);
    // A posted message must be in the list, so there has to be room first.
    if (active_.size() == active_.capacity()) active_.reserve(2 * active_.size() + 8);
    post();
    if (!message.transfer_.done) {
      message.deadline_ms_ = rough_deadline_ms(executor_.timeout_ms());
      active_.push_back(&message);
      one_begins();
      return has_callback;
    }
    status = outcome(message.arguments_, message.transfer_, &message.received_, transport_);
  } catch (...) {  // nobody would ever end it
    message.did_not_start();
    throw;
  }
  if (!status.ok() && number_announced(message.transfer_) != 0) [[unlikely]] {
    one_begins();
    if (fetches_->goes_on(message, status)) return has_callback;
    one_is_over();
  }
  message.complete_at_once(std::move(status));
  return has_callback;
}
// Instance for announced.cpp.
template bool Messages::start_by(Message&, const std::function<void()>&);

bool Messages::drive(int worker) { return needs(worker) && push(By::kWorker); }

bool Messages::push(By by) {
  if (idle()) return false;
  Message* ended = nullptr;
  {
    // Whoever holds it is polling.
    const std::unique_lock lock(lock_, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    ended = poll_locked(by);
  }
  const bool any = ended != nullptr;
  while (ended != nullptr) end(*std::exchange(ended, ended->next_ended_));
  return any;
}

// A message that nobody here waits for stays where it is. Its receive may be yet to come, as that
// of a peer's next call: it would be kept aside, and copied once more.
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
Message* Messages::poll_locked(By by) {
  try {
    if (poll_for_active()) {
      note_move();
      if (waiting_here_.load(std::memory_order_relaxed) > 0) wake_this_rank();
    }
  } catch (...) {
    health_.fail_by_exception("its messages");
  }
  if (active_.size() <= kFewActive) [[likely]]
    return take_ended(by);
  const double begun_s = now_s();
  if (begun_s < next_look_s_) return nullptr;
  Message* const ended = take_ended(by);
  const double now = now_s();
  next_look_s_ = now + kLookApart * (now - begun_s);
  return ended;
}

Message* Messages::take_ended(By by) {
  Message* first = nullptr;
  Message** last = &first;
  std::erase_if(active_, [&](Message* message) {
    if (!is_over(*message, by)) return false;
    *last = message;
    last = &message->next_ended_;
    *last = nullptr;
    return true;
  });
  return first;
}

// Whether it is done; gives it up if it has to be. What a worker ends the application does not know
// yet: its next call is no answer to that.
bool Messages::is_over(Message& message, By by) {
  if (message.transfer_.done) return true;
  Status reason;
  if (health_.stopped()) {
    reason = by == By::kWorker ? health_.cause() : health_.cause_for_call();
  } else if (message.deadline_ms_ != kNever && rough_ms() >= message.deadline_ms_) {
    reason = late(message.arguments_);
  }
  if (!reason.ok()) give_up(message.transfer_, std::move(reason));
  return message.transfer_.done;
}

void Messages::leave() {
  const std::lock_guard lock(lock_);
  endpoint_->leave({});
}

Status Messages::late(const MessageArguments& arguments) const {
  const std::optional<MessageEnvelope> unexpected = unexpected_of(*endpoint_, arguments);
  return Status::format(Code::kTimeout, "nothing came of it in {} ms{}", executor_.timeout_ms(),
                        unexpected ? describe_unexpected(record_of(*unexpected)) : "");
}

Result<std::optional<MessageEnvelope>> Messages::probe(const MessageArguments& receive) {
  if (health_.stopped()) return health_.cause_for_call();
  application_calls();
  std::optional<MessageEnvelope> found;
  bool moved = false;
  Status gone;
  {
    const std::lock_guard lock(lock_);
    try {
      moved = endpoint_->poll();
    } catch (...) {
      health_.fail_by_exception("its messages");
      return health_.cause_for_call();
    }
    const Tag mask = receive.tag == TUTTI_ANY_TAG ? kHiddenTag : kMatchedTag;
    const int peer = receive.peer == TUTTI_ANY_SOURCE ? kAnySource : receive.peer;
    found = endpoint_->first_unexpected(peer, tag_of(receive), mask);
    if (!found && peer != rank_) {
      endpoint_->await(peer);
      if (peer == kAnySource ? endpoint_->all_have_left() : endpoint_->has_left(peer)) {
        gone = {Code::kPeerFailed, "whoever could send it has destroyed its communicator"};
      }
    }
  }
  if (moved) wake_this_rank();
  if (!found && !gone.ok()) return gone;
  return found;
}

// A receive that has met a message goes on: its sender may wait for that.
bool Messages::cancel(Message& message) {
  {
    const std::lock_guard lock(lock_);
    Transfer& transfer = message.transfer_;
    if (message.done() || message.sends() || transfer.done || transfer.source >= 0) return false;
    give_up(transfer, {});
    transfer.tag = tag_of(message.arguments_);
  }
  push(By::kApplication);
  return true;
}

std::optional<MessageEnvelope> Messages::unexpected_by(const MessageArguments& arguments) {
  const std::lock_guard lock(lock_);
  return unexpected_of(*endpoint_, arguments);
}

void Messages::give_up(Transfer& transfer, Status reason) {
  endpoint_->cancel(transfer);
  transfer.done = true;
  transfer.status = std::move(reason);
}

void Messages::end(Message& message) {
  Status status = outcome(message.arguments_, message.transfer_, &message.received_, transport_);
  if (!status.ok() && fetches_->goes_on(message, status)) [[unlikely]]
    return;
  complete(message, std::move(status));
}

void Messages::complete(Message& message, Status status) {
  const bool over = message.complete(std::move(status));
  wake_this_rank();
  if (over) one_is_over();
}

void Messages::wake_this_rank() { ring_after_store(*transport_.bell(rank_), caller_budget_); }

Status Messages::wait(Message& message, int64_t timeout_ms) {
  if (message.done() || poll_briefly(message, caller_budget_)) return message.status();
  const PendingMessage awaiting(message.arguments_, transport_, *this);
  ReportedMessageWait reported(notes_, wait_report_, awaiting);
  Waiter waiter = this->waiter(caller_budget_);
  waiter.slow = &reported;
  waiter.timeout_ms = timeout_ms;
  const auto name = [&] { return describe(message.arguments_, transport_); };
  const WaitEnd end = help_to_end(message, waiter, health_, name);
  if (end == WaitEnd::kInterrupted && message.status().ok()) return health_.cause_for_call();
  if (end != WaitEnd::kDeadline) return message.status();
  return Status::format(Code::kTimeout, "{} is not complete after {} ms", name(), timeout_ms);
}

std::optional<MessageArguments> Messages::first_under_way() {
  const std::lock_guard lock(lock_);
  if (active_.empty()) return std::nullopt;
  return active_.front()->arguments_;
}

Status Messages::drain() {
  const PendingStarted awaiting(transport_, *this);
  ReportedMessageWait reported(notes_, wait_report_, awaiting);
  Waiter waiter = this->waiter(caller_budget_);
  waiter.slow = &reported;
  waiter.timeout_ms = executor_.timeout_ms();
  return help_until_idle(health_, waiter, "messages");
}

bool Messages::has_work(int worker) const { return worker == 0 && !idle(); }

// poll_locked() looks at the stop flags, and ends every message when they are set.
Waiter Messages::waiter(const SpinBudget& budget) const {
  return health_.waiter_for_driven(budget, !endpoint_->rings_bell(), kNever);
}

}  // namespace tutti
