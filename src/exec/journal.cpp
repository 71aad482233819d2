// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The messages by which ranks without shared memory compare their calls.
#include "exec/journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/wait.hpp"

namespace tutti {
namespace {

Result<JournalMessage> message_in(int peer, std::span<const std::byte> bytes) {
  JournalMessage message;
  if (bytes.size() != sizeof message) {
    return Status::format(Code::kInternal, "rank {} told of a call in {} bytes, expected {}", peer,
                          bytes.size(), sizeof message);
  }
  std::memcpy(&message, bytes.data(), sizeof message);
  return message;
}

}  // namespace

JournalMessage Journal::message_of(uint64_t sequence, JournalMessage::Kind kind) const {
  JournalMessage message = sequence == 0 ? JournalMessage{} : kept(sequence);
  message.kind = kind;
  return message;
}

Status Journal::enter(const CallRecord& record, uint32_t signature, uint32_t& chain) {
  std::vector<std::pair<int, JournalMessage>> replies;
  {
    const std::lock_guard lock(mutex_);
    const uint32_t before = kept(last_).chain;
    chain = chained(before, signature);
    last_ = record.sequence;
    calls_[last_ % kKept] = {.record = record, .before = before, .chain = chain};
    for (const auto& [peer, message] : told_) {
      if (message.record.sequence != last_) continue;
      Outcome outcome = compare(peer, message);
      if (!outcome.status.ok()) return outcome.status;
      if (message.kind == JournalMessage::Kind::kLeaves && !outcome.reply) {
        outcome.reply = message_of(last_, JournalMessage::Kind::kAnswers);
      }
      if (outcome.reply) replies.emplace_back(peer, *outcome.reply);
    }
  }
  for (const auto& [peer, message] : replies) tell_(peer, message);
  return {};
}

void Journal::wait_for(int peer, uint64_t sequence) {
  JournalMessage message;
  {
    const std::lock_guard lock(mutex_);
    if (!keeps(sequence)) return;  // too many have been queued since
    if (std::exchange(waited_for_[peer], sequence) == sequence) return;
    message = message_of(sequence, JournalMessage::Kind::kWaits);
  }
  tell_(peer, message);
}

void Journal::compare_with(int peer, uint64_t sequence) {
  JournalMessage message;
  {
    const std::lock_guard lock(mutex_);
    if (!keeps(sequence)) return;
    message = message_of(sequence, JournalMessage::Kind::kCompares);
    message.alike = forgotten();
    message.differs = sequence;
  }
  tell_(peer, message);
}

Status Journal::heard(int peer, std::span<const std::byte> bytes) {
  TUTTI_ASSIGN_OR_RETURN(const JournalMessage theirs, message_in(peer, bytes));
  Outcome outcome;
  {
    const std::lock_guard lock(mutex_);
    JournalMessage& told = told_[peer];
    if (theirs.record.sequence >= told.record.sequence) told = theirs;
    if (theirs.kind == JournalMessage::Kind::kAnswers) answers_[peer] = theirs.record;
    if (theirs.kind == JournalMessage::Kind::kAsks) {
      questions_[peer] = {.sequence = theirs.record.sequence, .came_ms = host_ms()};
    }
    outcome = compare(peer, theirs);
    const bool not_yet =
        theirs.record.sequence > last_ && theirs.kind != JournalMessage::Kind::kAnswers;
    const bool leaves = theirs.kind == JournalMessage::Kind::kLeaves && !outcome.reply;
    if (not_yet || leaves || theirs.kind == JournalMessage::Kind::kAsks) {
      outcome.reply = message_of(last_, JournalMessage::Kind::kAnswers);
    }
  }
  if (outcome.status.ok() && outcome.reply) tell_(peer, *outcome.reply);
  return outcome.status;
}

// ---- calls that differ -------------------------------------------------------------------------

// Compares with the call of that number, if this rank has made it.
Journal::Outcome Journal::compare(int peer, const JournalMessage& theirs) const {
  const uint64_t at = theirs.record.sequence;
  const bool halves = theirs.kind == JournalMessage::Kind::kCompares;
  if (at == 0 || at > last_) return {};
  if (!keeps(at)) return halves ? halve(peer, theirs, theirs.alike, theirs.differs) : Outcome{};
  const JournalMessage& mine = kept(at);
  if (mine.chain == theirs.chain) {
    return halves && at < theirs.differs ? halve(peer, theirs, at, theirs.differs) : Outcome{};
  }
  if (mine.before == theirs.before) {
    return {.status = mismatch(name_(rank_), mine.record, name_(peer), theirs.record)};
  }
  return halve(peer, theirs, halves ? theirs.alike : 0, at - 1);
}

// The first call that differs comes after `alike` and is `differs` at the latest.
Journal::Outcome Journal::halve(int peer, const JournalMessage& theirs, uint64_t alike,
                                uint64_t differs) const {
  alike = std::max(alike, forgotten());
  if (alike >= differs) {
    return {.status = Status::format(Code::kMismatch,
                                     "ranks made different calls: {} and {} did before {}, "
                                     "too long ago to tell which",
                                     name_(rank_), name_(peer), describe(theirs.record))};
  }
  JournalMessage message =
      message_of(alike + (differs - alike + 1) / 2, JournalMessage::Kind::kCompares);
  message.alike = alike;
  message.differs = differs;
  return {.reply = message};
}

// ---- answers -----------------------------------------------------------------------------------

void Journal::ask_all() {
  JournalMessage message;
  {
    const std::lock_guard lock(mutex_);
    answers_.clear();
    message = message_of(last_, JournalMessage::Kind::kAsks);
  }
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer != rank_) tell_(peer, message);
  }
}

Journal::Answers Journal::answers(uint64_t sequence) const {
  const std::lock_guard lock(mutex_);
  Answers answers;
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer == rank_) continue;
    const auto answer = answers_.find(peer);
    if (answer == answers_.end()) {
      answers.missing.push_back(peer);
    } else if (answer->second.sequence < sequence) {
      answers.late.emplace_back(peer, answer->second);
    }
  }
  return answers;
}

std::vector<int> Journal::askers(uint64_t sequence, int64_t since_ms) const {
  const std::lock_guard lock(mutex_);
  std::vector<int> ranks;
  for (const auto& [rank, question] : questions_) {
    const bool lately = question.sequence == sequence && question.came_ms >= since_ms;
    if (lately && rank >= 0 && rank < ranks_) ranks.push_back(rank);
  }
  return ranks;
}

std::optional<CallRecord> Journal::last_told_by(int peer) const {
  const std::lock_guard lock(mutex_);
  const auto told = told_.find(peer);
  if (told == told_.end()) return std::nullopt;
  return told->second.record;
}

// ---- the end -----------------------------------------------------------------------------------

JournalMessage Journal::last_words() const {
  const std::lock_guard lock(mutex_);
  return message_of(last_, JournalMessage::Kind::kAnswers);
}

Status Journal::compare_last_words(int peer, std::span<const std::byte> bytes) const {
  TUTTI_ASSIGN_OR_RETURN(const JournalMessage theirs, message_in(peer, bytes));
  const std::lock_guard lock(mutex_);
  const Outcome outcome = compare(peer, theirs);
  if (!outcome.reply) return outcome.status;
  return mismatch(name_(rank_), kept(theirs.record.sequence).record, name_(peer), theirs.record);
}

Status Journal::check_last_words(int peer, std::span<const std::byte> bytes) const {
  TUTTI_RETURN_IF_ERROR(compare_last_words(peer, bytes));
  const CallRecord theirs = message_in(peer, bytes)->record;
  const std::lock_guard lock(mutex_);
  const CallRecord own = message_of(last_, JournalMessage::Kind::kAnswers).record;
  const auto made = [](const CallRecord& last) { return last.sequence == 0 ? nullptr : &last; };
  if (theirs.sequence < last_) return left_before(name_(rank_), own, name_(peer), made(theirs));
  if (theirs.sequence > last_) return left_before(name_(peer), theirs, name_(rank_), made(own));
  return {};
}

void Journal::leave(const std::function<bool(int peer)>& wants) {
  JournalMessage message;
  {
    const std::lock_guard lock(mutex_);
    answers_.clear();
    message = message_of(last_, JournalMessage::Kind::kLeaves);
  }
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer != rank_ && wants(peer)) tell_(peer, message);
  }
}

std::optional<uint64_t> Journal::answer_of(int peer) const {
  const std::lock_guard lock(mutex_);
  const auto answer = answers_.find(peer);
  if (answer == answers_.end()) return std::nullopt;
  return answer->second.sequence;
}

}  // namespace tutti
