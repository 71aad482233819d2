// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The state of a meeting, without its sockets. It admits clients, finds out whether the arrived
// ranks make a communicator, and runs the rounds in which they gather bytes. Members that stay in
// touch afterwards hear of one another by it (docs/design/meeting.md).
#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <string>
#include <vector>

#include "bootstrap/client.hpp"
#include "bootstrap/refused.hpp"
#include "bootstrap/unique_id.hpp"
#include "core/exchange.hpp"
#include "core/wait.hpp"

namespace tutti::bootstrap {

class Meeting {
 public:
  // `warn_after_ms`: how long ranks wait for others before the log says for whom; 0: never.
  // `lifetime_ms`: if no rank comes for so long, the meeting is over; kNever: it waits for ever.
  explicit Meeting(const UniqueId& id, int64_t warn_after_ms = 0, int64_t lifetime_ms = kNever);
  // That has failed before it began, as rank `rank` of `ranks`, in this process, has: tells all who
  // come until then.
  Meeting(const UniqueId& id, int rank, int ranks, const Status& why, int64_t until_ms);

  Client& enter(Origin origin);
  void hear(Client& client, std::span<const std::byte> bytes);
  // The connection broke; `error` is the system's number, 0 if it was closed.
  void lost(Client& client, int error);
  // Drops a stranger, to make room for another client.
  void evict(Client& client);
  void check_deadlines();
  // Notes what the service lacks to take further clients, for the text of a timeout; empty:
  // nothing.
  void lacks(std::string what) { lack_ = std::move(what); }
  void forget_gone();

  [[nodiscard]] std::list<Client>& clients() { return clients_; }
  // When to call check_deadlines() again.
  [[nodiscard]] int64_t next_deadline_ms() const;
  [[nodiscard]] bool finished() const;
  // Ranks may still come, or be told why it is too late.
  [[nodiscard]] bool expects_more() const {
    return phase_ == Phase::kArriving || phase_ == Phase::kFailed;
  }
  // Whether it is this client's turn to be written to.
  [[nodiscard]] bool may_write(const Client& client) const;
  // The bytes to be written to it next; the writer erases what it has written.
  std::vector<std::byte>& to_write(Client& client);

 private:
  enum class Phase : uint8_t { kArriving, kComplete, kTogether, kFailed };

  void handle(Client& client, const Frame& frame);
  void handle_together(Client& client, const Frame& frame);
  void turn_away(Client& client);
  void greet(Client& client, const Frame& frame);
  void admit(Client& client, const Hello& hello);
  void release(Client& client);
  void learn_ranks(const Hello& hello);
  [[nodiscard]] std::string objection(const Hello& hello) const;
  [[nodiscard]] std::string who(const Client& client) const;
  void gather(Client& client, std::span<const std::byte> part);
  void finish_round();
  void stay(Client& client);
  void leave(Client& client);
  void pass_on_failure(Client& client, std::span<const std::byte> body);
  // A kind of message from one member to another: its frame and its longest length. If the receiver
  // has left more than `most_unsent` bytes unread, the message is dropped.
  struct Passage {
    FrameKind kind;
    size_t most_bytes;
    size_t most_unsent;
  };
  static constexpr Passage kNotes{FrameKind::kTold, kMaxNoteBytes, 64 << 10};
  // Pages: room for the answers of many ranks to one question.
  static constexpr Passage kPages{FrameKind::kPage, kMaxPageBytes, 16 << 20};
  void pass_on(Client& client, std::span<const std::byte> body, const Passage& passage);
  void regroup(Client& client, std::span<const std::byte> body);
  void withdraw(Client& client);
  void finish_regrouping();
  void tell_others(const Client& about, FrameKind kind, std::span<const std::byte> body);
  void fail(Code code, const std::string& text);
  void fail_by(Client& client, std::span<const std::byte> body);
  void refuse(Client& client, Code code, const std::string& text);

  [[nodiscard]] bool has_more(const Client& client) const;
  [[nodiscard]] Client* member(int rank);
  [[nodiscard]] std::string missing() const;
  [[nodiscard]] bool anybody_waits() const;
  void warn_of_absence(int64_t now);

  const UniqueId id_;
  std::list<Client> clients_;  // a list: handlers keep references
  Refused refused_;
  Phase phase_ = Phase::kArriving;
  int ranks_ = 0;      // 0: not known yet, as newcomers do not know it
  int newcomers_ = 0;  // as the first member said
  std::string first_;  // that member: "rank 2"
  std::string knows_;  // the member that said how many ranks there are
  int arrived_ = 0;
  int gathered_ = 0;  // parts of the round under way
  int failures_told_ = 0;
  std::string leaver_;         // who left without staying
  std::vector<int32_t> left_;  // who has left since, in this order
  std::string lack_;
  int64_t first_arrival_ms_ = 0;
  int64_t deadline_ms_;    // until the first has come, the end of the id's lifetime
  int64_t warn_after_ms_;  // since the first arrival; the next time after twice as long
  Code failure_code_ = Code::kInternal;
  std::string failure_;
  int64_t tell_until_ms_ = 0;  // one has said why it cannot go on: until when all are to know
  int64_t linger_ms_ = 0;      // failed: until when late members are told why
};

}  // namespace tutti::bootstrap
