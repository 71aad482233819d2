// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The state of a host's relay, without its sockets. The relay is a service for the ranks of its
// host, and comes to the meeting over one connection for all of them. It passes on what each says,
// and gives each what the meeting says to one or to all. The meeting decides who belongs there, and
// what a frame means.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "bootstrap/hub.hpp"

namespace tutti::bootstrap {

class Relay final : public Hub {
 public:
  explicit Relay(const UniqueId& id, Clock clock = now_ms);

  // The connection to the meeting, until it is lost.
  [[nodiscard]] Link* meeting() { return meeting_; }

  void forget_gone() override;
  [[nodiscard]] int64_t next_deadline_ms() const override;
  [[nodiscard]] bool finished() const override;
  [[nodiscard]] bool expects_more() const override { return expects_more_; }
  [[nodiscard]] bool may_write(const Link& link) const override;

 private:
  using Body = std::span<const std::byte>;
  // A frame of a client that came before the meeting knew this relay.
  struct Held {
    MeetingFrameKind kind;
    Addressed from;
    std::vector<std::byte> body;
  };

  void handle(Link& link, const MeetingFrame& frame) override;
  void heard(Link& link) override;
  void broke(Link& link, int error) override;
  void refuse_version(const Link& link) override;
  void greet(Link& link, MeetingFrame frame);
  void pass_up(MeetingFrameKind kind, const Addressed& from, Body body);
  void hear_meeting(const MeetingFrame& frame);
  void pass_to_all(uint32_t but, MeetingFrameKind kind, Body body);
  void pass_down(Link& link, MeetingFrameKind kind, Body body);
  void lose_meeting(int error);

  Link* meeting_;
  std::unordered_map<uint32_t, Link*> clients_;  // by their numbers
  std::vector<Held> held_;
  uint32_t last_number_ = 0;
  const int64_t first_until_ms_;  // deadline for the first client
  bool introduced_ = false;       // the meeting knows of this relay
  bool expects_more_ = true;
  bool together_ = false;  // all have stayed
};

}  // namespace tutti::bootstrap
