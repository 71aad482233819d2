// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Members of a meeting without sockets, who say what a test has them say.
#pragma once

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "bootstrap/contributions.hpp"
#include "bootstrap/meeting_state.hpp"

namespace tutti_test {

inline const tutti::UniqueId& scripted_id() {
  static const tutti::UniqueId id = tutti::derive_unique_id("scripted members");
  return id;
}

inline std::vector<std::byte> contribution_of(int rank, size_t bytes) {
  return std::vector<std::byte>(bytes, static_cast<std::byte>(rank));
}

struct Said {
  int rank = 0;
  int ranks = 1;
  int32_t timeout_ms = -1;
  bool own = false;  // in the service's process
};

// One end of a connection of a member or a relay, the meeting's end, and no socket.
struct ScriptedMember {
  using MeetingFrameKind = tutti::bootstrap::MeetingFrameKind;
  using Session = tutti::bootstrap::Session;

  // Who has proved that it knows the secret, and is to say what for.
  enum Nobody { kNobody };
  ScriptedMember(tutti::bootstrap::Hub& at, Nobody, bool own = false)
      : meeting(at),
        session(Session::Side::kMember, scripted_id().name, scripted_id().secret),
        link(meeting.enter({.from = "the test", .own = own})) {
    for (int turn = 0; turn < 2; ++turn) {
      tell();
      hear();
    }
  }
  ScriptedMember(tutti::bootstrap::Hub& at, const Said& said)
      : ScriptedMember(at, kNobody, said.own) {
    const tutti::bootstrap::Hello hello{
        said.rank,        said.ranks,      0,
        said.rank + 1000, said.timeout_ms, tutti::bootstrap::host_field("host")};
    say(MeetingFrameKind::kHello, tutti::bytes_of(hello));
  }
  ScriptedMember(tutti::bootstrap::Hub& at, int rank, int ranks)
      : ScriptedMember(at, {.rank = rank, .ranks = ranks}) {}

  void tell() { meeting.hear(link, std::exchange(session.out(), {})); }
  void say(MeetingFrameKind kind, std::span<const std::byte> body = {}) {
    session.put(kind, {body});
    tell();
  }
  // A frame of a relay's client.
  void say_from(uint32_t client, MeetingFrameKind kind, std::span<const std::byte> body = {}) {
    const tutti::bootstrap::Addressed from{client, static_cast<int32_t>(kind)};
    session.put(MeetingFrameKind::kFrom, {tutti::bytes_of(from), body});
    tell();
  }
  void gather(std::span<const std::byte> contribution) {
    say(MeetingFrameKind::kGather, contribution);
  }
  // Takes one piece of what there is to be written to it; false: nothing.
  bool hear() {
    if (!meeting.may_write(link)) return false;
    const auto bytes = std::exchange(meeting.to_write(link), {});
    sent_to_it += bytes.size();
    session.append(bytes);
    tutti::bootstrap::MeetingFrame frame{};
    while (session.next(frame) == Session::Got::kFrame) {
      heard.push_back(frame.kind);
      last.assign(frame.body.begin(), frame.body.end());
      if (frame.kind != MeetingFrameKind::kContributions) continue;
      EXPECT_TRUE(tutti::bootstrap::take_contributions(frame.body, SIZE_MAX, contributions));
    }
    return true;
  }
  void hear_all() {
    while (hear()) {
    }
  }
  [[nodiscard]] bool has_heard(MeetingFrameKind kind) const {
    return std::ranges::find(heard, kind) != heard.end();
  }

  tutti::bootstrap::Hub& meeting;  // or relay
  Session session;
  tutti::bootstrap::Link& link;
  std::vector<MeetingFrameKind> heard;
  std::vector<std::byte> last;  // the body of the last frame
  tutti::bootstrap::Contributions contributions;
  size_t sent_to_it = 0;  // bytes that have left the service for it
};

}  // namespace tutti_test
