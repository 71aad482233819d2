// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "comm/announced.hpp"

#include <algorithm>

namespace tutti {
namespace {

MessageArguments bytes_for(const MessageArguments& receive, const Transfer& met) {
  MessageArguments arguments = receive;
  arguments.peer = met.source;
  arguments.tag = hidden_tag(Hidden::kBytes, number_announced(met));
  return arguments;
}

MessageArguments answer_to(const Transfer& met, Answer* answer) {
  return {.sends = true,
          .peer = met.source,
          .tag = hidden_tag(Hidden::kAnswer, number_announced(met)),
          .buffer = answer,
          .count = 1};
}

bool is_of_its_type(const MessageArguments& receive, const Transfer& met) {
  return (met.tag >> kTypeShift & kTypeMask) == static_cast<Tag>(receive.type);
}

}  // namespace

Fetches::Fetch::Fetch(Fetches& all, const MessageArguments& receive, const Transfer& met)
    : all(all),
      met(met),
      answer(is_of_its_type(receive, met) ? Answer::kSend : Answer::kDone),
      asks(all.messages_, answer_to(met, &answer)) {
  if (answer == Answer::kSend) gets.emplace(all.messages_, bytes_for(receive, met));
}

// The fetch of that receive, which begins if it has not. Null where memory lacks: its sender waits
// for an answer that cannot be given, so the communicator breaks.
Fetches::Fetch* Fetches::begin(const MessageArguments& receive, const Transfer& met,
                               Message* started) {
  Fetch* made = nullptr;
  try {
    const std::lock_guard lock(lock_);
    for (const auto& one : begun_) {
      if (&one->met == &met && !one->over) return one.get();
    }
    begun_.push_back(std::make_unique<Fetch>(*this, receive, met));
    made = begun_.back().get();
    made->receive = started;
  } catch (...) {
    health_.fail_by_exception("its messages");
    return nullptr;
  }
  if (made->gets) {
    start_or_fail(*made->gets);
    if (started != nullptr) made->gets->on_complete(&Fetches::end, made);
  }
  start_or_fail(made->asks);
  made->begun = true;
  return made;
}

// Where memory lacks for either message of a fetch, the communicator breaks, which ends the other.
void Fetches::start_or_fail(Message& message) {
  Status begun;
  try {
    begun = message.start(StartedFor::kCaller);
  } catch (...) {
    health_.fail_by_exception("its messages");
    begun = health_.cause_for_call();
  }
  if (!begun.ok()) message.fail(begun);
}

// Forgets completed fetches that no receive uses any more, among them that of `met`.
void Fetches::forget(const Transfer* met) {
  const std::lock_guard lock(lock_);
  std::erase_if(begun_, [met](const std::unique_ptr<Fetch>& one) {
    const bool looked_at = one->receive == nullptr && &one->met != met;
    return one->begun && !looked_at && one->asks.done() && (!one->gets || one->gets->done());
  });
}

void Fetches::begin_announced(std::span<BlockingMessage> messages) {
  for (BlockingMessage& message : messages) {
    if (!message.transfer.done || number_announced(message.transfer) == 0) continue;
    (void)begin(message.arguments, message.transfer, nullptr);
  }
}

Status Fetches::settled(BlockingMessage& message, Status error) {
  if (number_announced(message.transfer) == 0) return error;
  Fetch* const fetched = begin(message.arguments, message.transfer, nullptr);
  if (fetched == nullptr) return health_.cause_for_call();
  if (fetched->gets) {
    error = fetched->gets->wait(kNever);
    if (error.ok() && message.info != nullptr) {
      *message.info = received_by(message.transfer, fetched->gets->received().count);
    }
  }
  const Status asked = fetched->asks.wait(kNever);
  forget(&message.transfer);
  return error.ok() ? asked : error;
}

bool Fetches::go_on_as_fetch(Message& message, Status& error) {
  if (number_announced(message.transfer()) == 0) return false;
  if (message.meets_announced() && is_of_its_type(message.arguments(), message.transfer())) {
    message.set_received(received_by(message.transfer(), 0));
    error = {};
    return false;
  }
  forget(nullptr);
  // Asked before: once the fetch has begun, another thread may end the message and forget both.
  const bool gets = is_of_its_type(message.arguments(), message.transfer());
  if (begin(message.arguments(), message.transfer(), &message) != nullptr) return gets;
  error = health_.cause_for_call();
  return false;
}

void Fetches::end(tutti_status /*status*/, const char* /*error*/, void* fetch) {
  Fetch& fetched = *static_cast<Fetch*>(fetch);
  Message& message = *fetched.receive;
  const Status status = fetched.gets->status();
  if (status.ok()) {
    message.set_received(received_by(message.transfer(), fetched.gets->received().count));
  }
  fetched.over = true;
  message.complete(status);
}

const Transfer* Message::announcement() const {
  const bool met = meets_announced_ && status().ok() && number_announced(transfer_) != 0;
  return met ? &transfer_ : nullptr;
}

}  // namespace tutti
