// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Messages that are started, polled by whoever has time, and waited for.
#include "comm/messages.hpp"

#include <algorithm>
#include <deque>
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

// ---- one message -------------------------------------------------------------------------------

bool Message::cancel() {
  if (done() || !messages_.cancel(*this)) return false;
  (void)wait(kNever);
  return true;
}

void Message::post(MessageEndpoint& endpoint) {
  transfer_ = {};
  transfer_.synchronous = arguments_.synchronous;
  if (announced_as_ != 0) [[unlikely]] {
    endpoint.announce(arguments_, announced_as_, transfer_);
  } else {
    endpoint.post(arguments_, transfer_);
  }
  if (!transfer_.done) deadline_ms_ = rough_deadline_ms(endpoint.timeout_ms());
}

// ---- all that are under way --------------------------------------------------------------------

Messages::Messages(std::unique_ptr<Endpoint> endpoint, Executor& executor)
    : HelpedProgress(executor.workers(), executor.bell(), executor.caller_budget()),
      endpoint_(std::move(endpoint), executor),
      fetches_(std::make_unique<Fetches>(*this, executor.health())),
      blocking_(endpoint_, *fetches_) {}

Messages::~Messages() { workers_forget_this(); }

void Messages::run(std::span<BlockingMessage> messages) {
  if (endpoint_.health().stopped()) {
    for (BlockingMessage& message : messages) {
      message.transfer.status = endpoint_.health().cause_for_call().with_context(
          describe(message.arguments, endpoint_.transport()));
    }
  } else if (idle()) {
    blocking_.run(messages);
  } else {
    run_queued(messages);
  }
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

Status Messages::submit(Message& message, StartedFor whom) {
  if (endpoint_.health().stopped()) {
    return endpoint_.health().cause_for_call().with_context(
        describe(message.arguments(), endpoint_.transport()));
  }
  application_calls();
  const bool has_callback = start(message);
  if (whom == StartedFor::kCaller) return {};
  after_start(has_callback);
  return {};
}

// Only posts the message and polls nothing. A poll might copy a long message that has come before
// the next one is posted, which the peer may wait for. Returns as Completion::activate().
bool Messages::start(Message& message) {
  const bool has_callback = message.activate();
  Status status;
  try {
    const std::lock_guard lock(endpoint_.lock());
    // A posted message must be in the list, so there has to be room first.
    if (active_.size() == active_.capacity()) active_.reserve(2 * active_.size() + 8);
    message.post(endpoint_);
    if (!message.transfer().done) {
      active_.push_back(&message);
      endpoint_.count_started(1);
      one_begins();
      return has_callback;
    }
    status = message.outcome(endpoint_.transport());
  } catch (...) {  // nobody would ever end it
    message.did_not_start();
    throw;
  }
  if (!status.ok() && number_announced(message.transfer()) != 0) [[unlikely]] {
    one_begins();
    if (fetches_->go_on_as_fetch(message, status)) return has_callback;
    one_is_over();
  }
  message.complete_at_once(std::move(status));
  return has_callback;
}

bool Messages::drive(int worker) { return needs(worker) && push(By::kWorker); }

bool Messages::push(By by) {
  if (idle()) return false;
  Message* ended = nullptr;
  {
    // Whoever holds it is polling.
    const std::unique_lock lock(endpoint_.lock(), std::try_to_lock);
    if (!lock.owns_lock()) return false;
    ended = poll_locked(by);
  }
  const bool any = ended != nullptr;
  while (ended != nullptr) end(*std::exchange(ended, ended->next_ended));
  return any;
}

// A message that nobody here waits for stays where it is. Its receive may be yet to come, as that
// of a peer's next call: it would be kept aside, and copied once more.
bool Messages::poll_for_active() {
  bool moved = false;
  for (Message* message : active_) {
    if (message->transfer().done) continue;
    moved |= endpoint_.poll_for(message->transfer());
    if (!message->transfer().done) break;
  }
  return moved;
}

// Moves data; takes out of active_, and gives in a list, what is done or has to be given up.
Message* Messages::poll_locked(By by) {
  try {
    if (poll_for_active()) {
      note_move();
      if (endpoint_.has_blocked(0)) wake_this_rank();
    }
  } catch (...) {
    endpoint_.health().fail_by_exception("its messages");
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
  const size_t ended = std::erase_if(active_, [&](Message* message) {
    if (!end_if_due(*message, by)) return false;
    *last = message;
    last = &message->next_ended;
    *last = nullptr;
    return true;
  });
  endpoint_.count_started(-static_cast<ptrdiff_t>(ended));
  return first;
}

// Whether it is done; gives it up if it has to be. What a worker ends the application does not know
// yet: its next call is no answer to that.
bool Messages::end_if_due(Message& message, By by) {
  if (message.transfer().done) return true;
  Health& health = endpoint_.health();
  Status reason;
  if (health.stopped()) {
    reason = by == By::kWorker ? health.cause() : health.cause_for_call();
  } else if (message.is_late()) {
    reason = endpoint_.late(message.arguments());
  }
  if (!reason.ok()) endpoint_.give_up(message.transfer(), std::move(reason));
  return message.transfer().done;
}

Result<std::optional<MessageEnvelope>> Messages::probe(const MessageArguments& receive) {
  if (endpoint_.health().stopped()) return endpoint_.health().cause_for_call();
  application_calls();
  return endpoint_.probe(receive);
}

// A receive that has met a message goes on: its sender may wait for that.
bool Messages::cancel(Message& message) {
  {
    const std::lock_guard lock(endpoint_.lock());
    Transfer& transfer = message.transfer();
    if (message.done() || message.sends() || transfer.done || transfer.source >= 0) return false;
    endpoint_.give_up(transfer, {});
    transfer.tag = tag_of(message.arguments());
  }
  push(By::kApplication);
  return true;
}

void Messages::end(Message& message) {
  Status status = message.outcome(endpoint_.transport());
  if (!status.ok() && fetches_->go_on_as_fetch(message, status)) [[unlikely]]
    return;
  message.complete(std::move(status));
}

Status Messages::wait(Message& message, int64_t timeout_ms) {
  if (message.done() || poll_briefly(message)) return message.status();
  const PendingMessage awaiting(message.arguments(), endpoint_);
  ReportedMessageWait reported(endpoint_.notes(), endpoint_.settings().wait_report, awaiting);
  Waiter waiter = waiter_of_caller();
  waiter.slow = &reported;
  waiter.timeout_ms = timeout_ms;
  const auto name = [&] { return describe(message.arguments(), endpoint_.transport()); };
  const WaitEnd end = help_to_end(message, waiter, endpoint_.health(), name);
  if (end == WaitEnd::kInterrupted && message.status().ok())
    return endpoint_.health().cause_for_call();
  if (end != WaitEnd::kDeadline) return message.status();
  return Status::format(Code::kTimeout, "{} is not complete after {} ms", name(), timeout_ms);
}

std::optional<MessageArguments> Messages::first_under_way() {
  const std::lock_guard lock(endpoint_.lock());
  if (active_.empty()) return std::nullopt;
  return active_.front()->arguments();
}

Status Messages::drain() {
  const PendingStarted awaiting(*this, endpoint_);
  ReportedMessageWait reported(endpoint_.notes(), endpoint_.settings().wait_report, awaiting);
  Waiter waiter = waiter_of_caller();
  waiter.slow = &reported;
  waiter.timeout_ms = endpoint_.timeout_ms();
  return help_until_idle(endpoint_.health(), waiter, "messages");
}

bool Messages::has_work(int worker) const { return worker == 0 && !idle(); }

}  // namespace tutti
