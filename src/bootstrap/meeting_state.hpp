// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The state of a meeting, without its sockets. It admits clients, finds out whether the arrived
// ranks make a communicator, and runs the rounds in which they gather bytes. Members that stay in
// touch afterwards hear of one another by it (docs/design/meeting.md).
//
// Ranks come over connections of their own, or over the one of their host's relay. What is for all
// goes to a relay once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "bootstrap/contributions.hpp"
#include "bootstrap/hub.hpp"
#include "core/exchange.hpp"

namespace tutti::bootstrap {

// A rank at the meeting.
struct Attendee {
  Link* link;       // over which it comes; null: its relay has ended, and it may come back
  uint32_t number;  // at the relay there; 0: the connection is its own
  // A newcomer has its number among the newcomers here until all ranks are known.
  int rank = 0;
  bool newcomer = false;
  int pid = 0;
  bool beside_relay = false;  // in the process of that relay
  std::string host = {};
  bool ending = false;                                  // has been told the last
  bool gone = false;                                    // is to be forgotten
  bool staying = false;                                 // has asked to stay
  std::optional<std::vector<std::byte>> gathered = {};  // its contribution to the round
  std::optional<std::vector<std::byte>> regroups = {};  // its contribution to a regrouping
  bool withdrew = false;                                // from the last regrouping
  // The rank has come back, and gives its contribution to a round again whose outcome it is sent.
  bool repeats = false;
  int64_t return_until_ms = kNever;  // without a link: when it counts as dead
};

class Meeting final : public Hub {
 public:
  // `warn_after_ms`: how long ranks wait for others before the log says for whom; 0: never.
  // `lifetime_ms`: if no rank comes for so long, the meeting is over; kNever: it waits for ever.
  explicit Meeting(const UniqueId& id, int64_t warn_after_ms = 0, int64_t lifetime_ms = kNever,
                   Clock clock = now_ms);
  // A meeting that failed before it began, as rank `rank` of `ranks`, in this process, has failed.
  // Tells that to all who come until `until_ms`.
  Meeting(const UniqueId& id, int rank, int ranks, const Status& why, int64_t until_ms);

  void check_deadlines() override;
  void forget_gone() override;
  [[nodiscard]] int64_t next_deadline_ms() const override;
  [[nodiscard]] bool finished() const override;
  [[nodiscard]] bool expects_more() const override {
    return phase_ == Phase::kArriving || phase_ == Phase::kFailed;
  }
  [[nodiscard]] bool expects_returns() const override;
  void take_returns_at(const NetAddress& address) override { returns_ = address; }
  [[nodiscard]] bool may_write(const Link& link) const override;

 private:
  enum class Phase : uint8_t { kArriving, kComplete, kTogether, kFailed };
  using Body = std::initializer_list<std::span<const std::byte>>;

  void handle(Link& link, const MeetingFrame& frame) override;
  void broke(Link& link, int error) override;
  void put_more(Link& link) override;
  [[nodiscard]] bool has_more(const Link& link) const override;

  void greet(Link& link, const MeetingFrame& frame);
  void greet(Link& link, uint32_t number, const Hello& hello);
  void hear_relay(Link& link, const MeetingFrame& frame);
  void handle(Attendee& attendee, const MeetingFrame& frame);
  void handle_together(Attendee& attendee, const MeetingFrame& frame);
  void admit(Link& link, uint32_t number, const Hello& hello);
  void release(Link& link);
  void take_back(Link& link, std::span<const std::byte> body);
  void learn_ranks(const Hello& hello);
  [[nodiscard]] std::string objection(const Hello& hello) const;
  [[nodiscard]] std::string who(const Attendee& attendee) const;
  void gather(Attendee& attendee, std::span<const std::byte> contribution);
  void finish_round();
  void stay(Attendee& attendee);
  void leave(Attendee& attendee);
  void pass_on_failure(Attendee& attendee, std::span<const std::byte> body);
  void pass_on(Attendee& attendee, std::span<const std::byte> body, const Passage& passage);
  void regroup(Attendee& attendee, std::span<const std::byte> body);
  void withdraw(Attendee& attendee);
  void finish_regrouping();
  void lose(Attendee& attendee, int error);
  void tell_failure(const Attendee& attendee, std::span<const std::byte> body);
  // The time at which relays are dropped after a failure.
  [[nodiscard]] int64_t end_of_relays_ms() const {
    return std::max(now(), tell_until_ms_) + 2 * kHandshakeMs;
  }
  void fail(Code code, const std::string& text, const Attendee* but = nullptr);
  void fail_by(Attendee& attendee, std::span<const std::byte> body);

  // ---- what is written ----
  static void say(Link& link, uint32_t number, MeetingFrameKind kind, Body body);
  static void say(Attendee& attendee, MeetingFrameKind kind, Body body);
  // Writes to all that are there but one, once to each relay.
  void say_to_all(MeetingFrameKind kind, std::span<const std::byte> body,
                  const Attendee* but = nullptr);
  // Writes the outcome of a round to all: frames of which each is made when the one before has
  // left.
  void give_to_all(MeetingFrameKind kind, Bodies&& outcome);
  // Hangs up once all has been read.
  static void end(Attendee& attendee, int64_t give_up_ms);
  void refuse(Link& link, uint32_t number, Code code, const std::string& text);
  void forget(Attendee& attendee);
  // The body of a frame about a rank: the rank's number, then `body`.
  static std::vector<std::byte> of_rank(const Attendee& attendee, std::span<const std::byte> body);

  [[nodiscard]] Attendee* member(int rank);
  [[nodiscard]] std::string missing() const;
  [[nodiscard]] bool anybody_waits() const;
  void warn_of_absence(int64_t now);

  std::list<Attendee> attendees_;  // a list: links keep references
  bool dropped_ = false;           // some of them are to be forgotten
  std::vector<Attendee*> away_;    // attendees without a link
  std::unordered_map<int, Attendee*> by_rank_;
  Phase phase_ = Phase::kArriving;
  int ranks_ = 0;      // 0: not known yet, as newcomers do not know it
  int newcomers_ = 0;  // number of newcomers, as the first member said
  std::string first_;  // the first member's name: "rank 2"
  std::string knows_;  // the member that said how many ranks there are
  int arrived_ = 0;
  int gathered_ = 0;  // contributions of the round under way
  int staying_ = 0;
  int failures_told_ = 0;
  // The news since all stayed, for ranks that come back: failures, each with its rank, and the
  // outcome of the last round of regrouping.
  std::vector<std::pair<int32_t, std::vector<std::byte>>> failures_;
  Bodies regrouped_;
  uint32_t rounds_ = 0;
  NetAddress returns_;
  bool said_goodbye_ = false;  // all were told that the ranks of the service's process have left
  std::string leaver_;         // rank that left without staying
  std::vector<int32_t> left_;  // who has left since, in this order
  int64_t first_arrival_ms_ = 0;
  int64_t deadline_ms_;    // until the first has come, the end of the id's lifetime
  int64_t warn_after_ms_;  // since the first arrival; the next time after twice as long
  Code failure_code_ = Code::kInternal;
  std::string failure_;
  int64_t tell_until_ms_ = 0;  // one has said why it cannot go on: until when all are to know
  int64_t linger_ms_ = 0;      // failed: until when late members are told why
};

}  // namespace tutti::bootstrap
