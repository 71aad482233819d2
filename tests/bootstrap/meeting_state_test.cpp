// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Rounds of gathering, as frames: what all ranks said is packed once, and goes to each as fast as
// it takes it.
#include "bootstrap/meeting_state.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "bootstrap/parts.hpp"
#include "core/log.hpp"

namespace tutti::bootstrap {
namespace {

using Got = Session::Got;

const UniqueId kId = derive_unique_id("meeting state test");

std::vector<std::byte> part_of(int rank, size_t bytes) {
  return std::vector<std::byte>(bytes, static_cast<std::byte>(rank));
}

// One end of a connection of a member, the meeting's end, and no socket.
struct Member {
  Member(Meeting& at, int rank, int ranks)
      : meeting(at),
        session(Session::Side::kMember, kId.name, kId.secret),
        client(meeting.enter({.from = "the test"})) {
    for (int turn = 0; turn < 2; ++turn) {
      tell();
      hear();
    }
    const Hello hello{rank, ranks, 0, 1, -1, host_field("host")};
    session.put(FrameKind::kHello, {bytes_of(hello)});
    tell();
  }
  void tell() { meeting.hear(client, std::exchange(session.out(), {})); }
  void gather(std::span<const std::byte> part) {
    session.put(FrameKind::kGather, {part});
    tell();
  }
  // Takes one piece of what there is to be written to it; false: nothing.
  bool hear() {
    const auto bytes = std::exchange(Meeting::to_write(client), {});
    if (bytes.empty()) return false;
    session.append(bytes);
    Frame frame{};
    while (session.next(frame) == Got::kFrame) {
      heard.push_back(frame.kind);
      if (frame.kind != FrameKind::kParts) continue;
      EXPECT_TRUE(take_parts(frame.body, SIZE_MAX, parts));
    }
    return true;
  }
  void hear_all() {
    while (hear()) {
    }
  }

  Meeting& meeting;
  Session session;
  Client& client;
  std::vector<FrameKind> heard;
  Parts parts;
};

class Round : public testing::Test {
 protected:
  static constexpr int kRanks = 20;
  Round() {
    log::set_level(LogLevel::kError);
    for (int rank = 0; rank < kRanks; ++rank) members_.emplace_back(meeting_, rank, kRanks);
    for (Member& member : members_) member.hear_all();
  }
  void gather_all(size_t bytes) {
    for (int rank = 0; rank < kRanks; ++rank) {
      members_[static_cast<size_t>(rank)].gather(part_of(rank, bytes));
    }
  }
  static Parts expected(size_t bytes) {
    Parts parts;
    for (int rank = 0; rank < kRanks; ++rank) parts.push_back(part_of(rank, bytes));
    return parts;
  }

  Meeting meeting_{kId};
  std::deque<Member> members_;
};

TEST_F(Round, GivesAllPartsToEachInRankOrder) {
  for (const size_t bytes : {size_t{3}, kMaxGatherBytes, size_t{0}}) {
    gather_all(bytes);
    for (Member& member : members_) {
      member.hear_all();
      EXPECT_EQ(std::exchange(member.parts, {}), expected(bytes));
    }
  }
}

TEST_F(Round, KeepsOneFrameForAMemberThatTakesNone) {
  gather_all(kMaxGatherBytes);
  Member& slow = members_.front();
  EXPECT_TRUE(meeting_.may_write(slow.client));
  EXPECT_TRUE(slow.client.session.out().empty());
  for (int turn = 0; turn < 3; ++turn) EXPECT_LE(Meeting::to_write(slow.client).size(), 70u << 10);
  slow.hear_all();
  EXPECT_EQ(slow.parts, expected(kMaxGatherBytes));
  EXPECT_FALSE(meeting_.may_write(slow.client));
}

TEST_F(Round, EndsForAllIfOneBeginsTheNextBeforeItHasHeardThis) {
  gather_all(kMaxGatherBytes);
  members_[1].gather(part_of(1, 8));
  members_[2].hear_all();
  EXPECT_EQ(members_[2].heard.back(), FrameKind::kError);
}

}  // namespace
}  // namespace tutti::bootstrap
