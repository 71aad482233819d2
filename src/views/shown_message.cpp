// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "views/shown_message.hpp"

#include <atomic>

namespace tutti {
namespace {

// Different for all that this process has announced and that are not done.
uint32_t next_number() {
  static std::atomic<uint32_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) % kMostAnnounced + 1;
}

template <typename T>
MessageArguments hidden(bool sends, int peer, Hidden kind, uint32_t number, T& what) {
  return {.sends = sends,
          .peer = peer,
          .tag = hidden_tag(kind, number),
          .buffer = const_cast<void*>(static_cast<const void*>(&what)),
          .count = sizeof what};
}

bool is_over(const std::optional<Message>& message) { return !message || message->done(); }

Status begin(std::optional<Message>& message, Messages& messages,
             const MessageArguments& arguments) {
  message.emplace(messages, arguments);
  Status begun = message->start(StartedFor::kCaller);
  if (!begun.ok()) message.reset();
  return begun;
}

}  // namespace

// ---- the sender --------------------------------------------------------------------------------

ShownSend::ShownSend(Messages& messages, const MessageArguments& arguments, const ShownBytes& shown)
    : messages_(messages), arguments_(arguments), shown_(shown), number_(next_number()) {}

Status ShownSend::start() {
  MessageArguments empty = arguments_;
  empty.count = 0;
  announcement_.emplace(messages_, empty);
  if (Status begun = messages_.announce(*announcement_, number_); !begun.ok()) {
    announcement_.reset();
    return begun;
  }
  return await_answer();
}

Status ShownSend::await_answer() {
  return begin(answers_, messages_,
               hidden(false, arguments_.peer, Hidden::kAnswer, number_, answer_));
}

Status ShownSend::describe() {
  TUTTI_RETURN_IF_ERROR(
      begin(description_, messages_,
            hidden(true, arguments_.peer, Hidden::kDescription, number_, shown_)));
  return await_answer();
}

bool ShownSend::at_rest() const {
  return is_over(announcement_) && is_over(description_) && is_over(answers_);
}

Result<ShownSend::State> ShownSend::push() {
  while (at_rest()) {
    for (const auto* const message : {&announcement_, &description_, &answers_}) {
      if (*message && !(*message)->status().ok()) return (*message)->status();
    }
    switch (answer_) {
      case Answer::kDone: return State::kDone;
      case Answer::kSend: return State::kSendsBytes;
      case Answer::kSendPieces: return State::kSendsPieces;
      case Answer::kDescribe: TUTTI_RETURN_IF_ERROR(describe());
    }
  }
  return State::kForPeer;
}

// ---- the receiver ------------------------------------------------------------------------------

ShownReceive::ShownReceive(Messages& messages, const Transfer& met)
    : messages_(messages), source_(met.source), number_(number_announced(met)) {}

Status ShownReceive::start() {
  TUTTI_RETURN_IF_ERROR(begin(description_, messages_,
                              hidden(false, source_, Hidden::kDescription, number_, shown_)));
  return begin(asks_, messages_, hidden(true, source_, Hidden::kAnswer, number_, first_));
}

Result<bool> ShownReceive::described() {
  if (!description_->done()) return false;
  if (!description_->status().ok()) return description_->status();
  return true;
}

Status ShownReceive::answer(Answer answer) {
  last_ = answer;
  return begin(answers_, messages_, hidden(true, source_, Hidden::kAnswer, number_, last_));
}

bool ShownReceive::at_rest() const {
  return is_over(asks_) && is_over(description_) && is_over(answers_);
}

Result<bool> ShownReceive::told() {
  if (!at_rest()) return false;
  for (const auto* const message : {&asks_, &answers_}) {
    if (*message && !(*message)->status().ok()) return (*message)->status();
  }
  return true;
}

}  // namespace tutti
