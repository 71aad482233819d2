// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A rank's end of its connection to the service, without the socket. It has what the rank says, and
// what it is told, from the proof of the secret to the last round.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "bootstrap/contributions.hpp"
#include "bootstrap/join.hpp"
#include "bootstrap/session.hpp"

namespace tutti::bootstrap {

class MemberState {
 public:
  enum class Event : uint8_t {
    kMore,  // nothing yet
    kProved,
    kAdmitted,
    kWelcome,  // seat() is known
    kOutcome,  // the outcome of a round is here: take_contributions()
    kStayed,   // keeper() is known
    kGoodbye,
    kFailed,   // the meeting has failed: told()
    kRefused,  // the session's refusal() says why
    kNonsense,
  };

  explicit MemberState(const UniqueId& id) : session_(Session::Side::kMember, id.name, id.secret) {}

  // The next event that the session's bytes amount to.
  Event next();

  // `timeout_ms`: how long it will wait; -1: for ever.
  void say_hello(const Joiner& joiner, int32_t timeout_ms);
  void gather(std::span<const std::byte> mine) { session_.put(MeetingFrameKind::kGather, {mine}); }
  void stay() { session_.put(MeetingFrameKind::kStay, {}); }
  void leave() { session_.put(MeetingFrameKind::kLeave, {}); }
  void release() { session_.put(MeetingFrameKind::kRelease, {}); }
  void fail(const Status& why) { session_.put(MeetingFrameKind::kFail, {failure_bytes(why)}); }

  [[nodiscard]] Session& session() { return session_; }
  [[nodiscard]] const Session& session() const { return session_; }
  [[nodiscard]] const Seat& seat() const { return seat_; }
  [[nodiscard]] const Keeper& keeper() const { return keeper_; }
  [[nodiscard]] const Status& told() const { return told_; }
  Contributions take_contributions() { return std::exchange(contributions_, {}); }

 private:
  Event understand(MeetingFrame frame);

  Session session_;
  bool proved_ = false;
  Seat seat_{};
  Keeper keeper_{};
  Contributions contributions_;  // to the round under way
  Status told_;                  // the service's word that the meeting has failed
};

// The error of a rank whose session the service has refused.
Status refusal_by(const Session& session, const UniqueId& id);

}  // namespace tutti::bootstrap
