// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Asks, takes answers, and answers a peer.
#include "comm/network_dialogue.hpp"

#include <algorithm>

#include "core/clock.hpp"

namespace tutti {
namespace {

constexpr Tag kAskTag = 1;
constexpr Tag kAnswerTag = 2;

}  // namespace

Dialogue::~Dialogue() {
  const auto forget = [this](Transfer& transfer) {
    if (transfer.internal != nullptr && !transfer.done) network_.cancel(transfer);
  };
  for (Question& question : questions_) {
    forget(question.out);
    forget(question.answer);
  }
  for (Transfer& answer : answers_) forget(answer);
  forget(incoming_);
  forget(end_of_questions_);
}

bool Dialogue::serving() const {
  for (size_t i = 0; i < answers_.size(); ++i) {
    if (answering_[i] && !answers_[i].done) return true;
  }
  return false;
}

Status Dialogue::run(Course& course, const Waiter& waiter) {
  for (Question& question : questions_) question.memory.resize(longest_);
  listen();
  Status failure;
  const WaitEnd end = wait_until(waiter, [&] {
    if (network_.poll()) note_move();
    failure = advance(course);
    return !failure.ok() || over();
  });
  if (!failure.ok() || end == WaitEnd::kReady) return failure;
  const bool waits_for_answers = !end_of_questions_.done;
  return Status::format(Code::kTimeout, "rank {} did not {} in time while the network was measured",
                        waits_for_answers ? asked_ : asking_,
                        waits_for_answers ? "answer" : "end its questions");
}

Status Dialogue::advance(Course& course) {
  TUTTI_RETURN_IF_ERROR(serve());
  TUTTI_RETURN_IF_ERROR(take(course));
  TUTTI_RETURN_IF_ERROR(ask(course));
  return end_of_questions_.done ? end_of_questions_.status : Status();
}

Status Dialogue::ask(Course& course) {
  while (!enough_ && open_ < course.ahead()) {
    Question& question = questions_[(first_ + open_) % kMostAhead];
    question.bytes = course.next(now_s());
    enough_ = question.bytes == 0;
    if (enough_) break;
    question.out = {};
    question.answer = {};
    network_.recv(asked_, kAnswerTag, kExactTag, question.memory.data(), question.bytes,
                  question.answer);
    network_.send(asked_, kAskTag, &question.bytes, sizeof question.bytes, question.out);
    ++open_;
  }
  if (enough_ && open_ == 0 && !said_enough_) {
    said_enough_ = true;
    network_.send(asked_, kAskTag, &no_bytes_, sizeof no_bytes_, end_of_questions_);
  }
  return {};
}

Status Dialogue::take(Course& course) {
  while (open_ > 0) {
    Question& question = questions_[first_];
    if (question.out.done) TUTTI_RETURN_IF_ERROR(question.out.status);
    if (question.answer.done) TUTTI_RETURN_IF_ERROR(question.answer.status);
    if (!question.out.done || !question.answer.done) break;
    course.arrived(question.bytes, now_s());
    first_ = (first_ + 1) % kMostAhead;
    --open_;
  }
  return {};
}

Status Dialogue::serve() {
  for (size_t i = 0; i < answers_.size(); ++i) {
    if (!answering_[i] || !answers_[i].done) continue;
    TUTTI_RETURN_IF_ERROR(answers_[i].status);
    answering_[i] = false;
  }
  while (!served_ && incoming_.done) {
    TUTTI_RETURN_IF_ERROR(incoming_.status);
    if (incoming_bytes_ == 0) {
      served_ = true;
      break;
    }
    if (incoming_bytes_ > longest_) {
      return Status::format(Code::kInternal, "rank {} asked for {} bytes, {} are the most", asking_,
                            incoming_bytes_, longest_);
    }
    // An answer may have come before this rank knows that it went: its place is not free yet.
    const auto place =
        static_cast<size_t>(std::ranges::find(answering_, false) - answering_.begin());
    if (place == answering_.size()) break;
    answering_[place] = true;
    answers_[place] = {};
    network_.send(asking_, kAnswerTag, payload_.data(), incoming_bytes_, answers_[place]);
    listen();
  }
  return {};
}

void Dialogue::listen() {
  incoming_ = {};
  network_.recv(asking_, kAskTag, kExactTag, &incoming_bytes_, sizeof incoming_bytes_, incoming_);
}

}  // namespace tutti
