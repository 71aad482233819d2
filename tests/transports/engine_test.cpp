// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The protocol of messages, over a link that moves frames from list to list. Where the test polls,
// a frame moves; so every state of an operation can be stopped at.
#include "transports/match/engine.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>

#include "transports/fake_link.hpp"
#include "transports/pattern.hpp"

namespace tutti::match {
namespace {

using tutti_test::FakeEndpoint;
using tutti_test::FakeTypes;
using tutti_test::FakeWire;
using tutti_test::pattern;

constexpr uint64_t kShort = FakeTypes::kEagerBytes;
constexpr uint64_t kLong = kShort + 1;  // three pieces

using Bytes = std::vector<std::byte>;

// A send or a receive with its buffer.
struct One {
  Bytes data;
  Transfer transfer = {};

  One() = default;
  explicit One(uint64_t bytes, uint64_t seed = 0) : data(pattern(seed, bytes)) {}
  One(const One&) = delete;  // the endpoint knows where it is
  void send(FakeEndpoint& from, int to, Tag tag) {
    from.send(to, tag, data.data(), data.size(), transfer);
  }
  void recv(FakeEndpoint& at, int from, Tag tag, Tag mask = kExactTag) {
    at.recv(from, tag, mask, data.data(), data.size(), transfer);
  }
};

class Engine : public testing::Test {
 protected:
  // Until nothing moves any more.
  void settle() {
    for (bool moved = true; moved;) {
      moved = false;
      for (const int rank : {0, 1, 2}) moved |= wire_[rank].poll();
    }
  }
  // That a message still passes from rank 0 to rank 1.
  void expect_messages_pass() {
    for (const uint64_t bytes : {kShort, kLong}) {
      One send(bytes, 99);
      One receive(bytes, 100);
      receive.recv(wire_[1], 0, 999);
      send.send(wire_[0], 1, 999);
      settle();
      ASSERT_TRUE(send.transfer.done && receive.transfer.done) << bytes;
      EXPECT_TRUE(send.transfer.status.ok() && receive.transfer.status.ok()) << bytes;
      EXPECT_EQ(receive.data, send.data) << bytes;
    }
  }

  FakeWire wire_{3};
};

TEST_F(Engine, AShortMessageGoesAtOnceAndALongerOneAsks) {
  One send(kShort, 1);
  One longer(kLong, 2);
  send.send(wire_[0], 1, 1);
  EXPECT_TRUE(send.transfer.done);
  longer.send(wire_[0], 1, 2);
  EXPECT_FALSE(longer.transfer.done);
  EXPECT_EQ(wire_.sent, "ER");
  settle();
  EXPECT_FALSE(longer.transfer.done) << "there is no receive";
  One got(kLong);
  got.recv(wire_[1], 0, 2);
  settle();
  EXPECT_EQ(wire_.sent, "ERGPPP");
  EXPECT_TRUE(longer.transfer.done && got.transfer.done);
  EXPECT_EQ(got.data, longer.data);
}

TEST_F(Engine, MessagesWithoutRoomWaitInTheirOrder) {
  wire_.room = 0;
  std::array<One, 4> sends;
  std::array<One, 4> receives;
  for (size_t i = 0; i < 4; ++i) {
    sends[i].data = pattern(i, i % 2 == 0 ? kShort : kLong);
    receives[i].data.resize(sends[i].data.size());
    sends[i].send(wire_[0], 1, 5);
    EXPECT_FALSE(sends[i].transfer.done);
  }
  for (One& receive : receives) receive.recv(wire_[1], 0, 5);
  settle();
  EXPECT_EQ(wire_.sent, "");
  wire_.room = 1;
  settle();
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(sends[i].transfer.done && receives[i].transfer.done) << i;
    EXPECT_EQ(receives[i].data, sends[i].data) << i;
  }
}

TEST_F(Engine, GrantsGoBeforeNewMessages) {
  One question(kLong, 1);
  One answer(kLong);
  One other(kShort);
  question.send(wire_[1], 0, 1);
  wire_.room = 0;
  other.send(wire_[0], 1, 2);
  answer.recv(wire_[0], 1, 1);
  wire_[0].poll();
  wire_.room = 1;
  wire_[0].poll();
  EXPECT_EQ(wire_.sent, "RG");
}

TEST_F(Engine, LongMessagesToOnePeerTakeTurns) {
  std::array<One, 2> sends;
  std::array<One, 2> receives;
  for (size_t i = 0; i < 2; ++i) {
    sends[i].data = pattern(i, 4 * FakeEndpoint::kPieceBytes);
    receives[i].data.resize(sends[i].data.size());
    receives[i].recv(wire_[1], 0, i);
    sends[i].send(wire_[0], 1, i);
  }
  wire_[1].poll();
  wire_[0].poll();
  std::string tags;
  for (const auto& frame : wire_.frames(0, 1)) tags += std::to_string(frame.tag);
  EXPECT_EQ(tags, "01010101");
  settle();
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(receives[i].data, sends[i].data);
}

// Each costs a little more than a quarter of what is tolerated.
TEST_F(Engine, SendersAskOnceTooMuchHasMetNoReceive) {
  std::array<One, 6> sends;
  for (One& send : sends) {
    send.data.resize(1);
    send.send(wire_[0], 1, 1);
  }
  EXPECT_EQ(wire_.sent, "EEEERR");
  settle();
  One got(1);
  got.recv(wire_[1], 0, 1);
  One next(1);
  next.send(wire_[0], 1, 1);
  EXPECT_EQ(wire_.sent, "EEEERRE") << "one has met its receive";
}

TEST_F(Engine, MessagesToOneselfAreKeptUpToALimitAndThenWait) {
  std::array<One, 6> sends;
  for (size_t i = 0; i < sends.size(); ++i) {
    sends[i].data = pattern(i, 1);
    sends[i].send(wire_[0], 0, 1);
    EXPECT_EQ(sends[i].transfer.done, i < 4) << i;
  }
  for (size_t i = 0; i < sends.size(); ++i) {
    One got(1, 99);
    got.recv(wire_[0], 0, 1);
    ASSERT_TRUE(got.transfer.done && sends[i].transfer.done) << i;
    EXPECT_EQ(got.data, sends[i].data) << i;
  }
  One next(1);
  next.send(wire_[0], 0, 1);
  EXPECT_TRUE(next.transfer.done);
  EXPECT_EQ(wire_.sent, "");
}

// In each of its states.
TEST_F(Engine, ASendThatIsTakenBackHoldsNothingUp) {
  for (const std::string state : {"waiting", "requested", "streaming", "local"}) {
    SCOPED_TRACE(state);
    FakeEndpoint& self = wire_[0];
    const int to = state == "local" ? 0 : 1;
    One send(2 * kLong);
    One receive(2 * kLong);
    if (state == "waiting") wire_.room = 0;
    send.send(self, to, 1);
    if (state == "streaming") {
      receive.recv(wire_[1], 0, 1);
      wire_[1].poll();
      wire_.room = 1;
      self.poll();
    }
    self.cancel(send.transfer);
    EXPECT_FALSE(send.transfer.done);
    EXPECT_EQ(send.transfer.internal, nullptr);
    wire_.room = 1000;
    settle();
    if (state == "streaming") wire_[1].cancel(receive.transfer);
    if (state == "requested") {  // a request that was sent is out
      receive.recv(wire_[1], 0, 1);
      settle();
      wire_[1].cancel(receive.transfer);
    }
    EXPECT_FALSE(receive.transfer.done);
    expect_messages_pass();
    One other(1);
    EXPECT_FALSE(self.recv_if_here(1, kExactTag, other.data.data(), 1, other.transfer));
  }
}

TEST_F(Engine, AReceiveThatIsTakenBackIsNotWrittenToAndHoldsNothingUp) {
  for (const std::string state : {"posted", "granting", "receiving"}) {
    SCOPED_TRACE(state);
    One send(2 * kLong, 1);
    One receive(2 * kLong, 2);
    const Bytes before = receive.data;
    receive.recv(wire_[1], 0, 1);
    if (state != "posted") {
      send.send(wire_[0], 1, 1);
      if (state == "granting") wire_.room = 0;
      wire_[1].poll();
    }
    wire_[1].cancel(receive.transfer);
    wire_.room = 1000;
    // Its place goes to another, which its pieces must not reach.
    One next(2 * kLong, 3);
    const Bytes next_before = next.data;
    next.recv(wire_[1], 0, 2);
    settle();
    EXPECT_FALSE(receive.transfer.done);
    EXPECT_EQ(receive.data, before);
    EXPECT_FALSE(next.transfer.done);
    EXPECT_EQ(next.data, next_before);
    wire_[1].cancel(next.transfer);
    if (send.transfer.internal != nullptr) wire_[0].cancel(send.transfer);
    expect_messages_pass();
  }
}

TEST_F(Engine, APeerThatFailsEndsItsTransfersAndNoOthers) {
  std::array<One, 6> ended;
  std::array<One, 3> others;
  for (One& one : ended) one.data.resize(2 * kLong);
  for (One& one : others) one.data.resize(2 * kLong);
  ended[0].send(wire_[0], 1, 0);  // streaming
  One granted(2 * kLong);
  granted.recv(wire_[1], 0, 0);
  wire_[1].poll();
  wire_.room = 1;
  wire_[0].poll();
  ended[1].send(wire_[0], 1, 1);  // waiting
  ended[2].recv(wire_[0], 1, 2);  // posted
  others[0].recv(wire_[0], 2, 2);
  others[1].recv(wire_[0], kAnySource, 3);
  others[2].send(wire_[0], 2, 4);
  wire_.room = 1000;
  One question(2 * kLong);
  question.send(wire_[1], 0, 5);
  ended[3].recv(wire_[0], 1, 5);
  wire_[0].fail(1, {Code::kPeerFailed, "it is gone"});
  for (const size_t i : {0U, 1U, 2U, 3U}) {
    ASSERT_TRUE(ended[i].transfer.done) << i;
    EXPECT_EQ(ended[i].transfer.status.message(), "it is gone") << i;
  }
  ended[4].send(wire_[0], 1, 9);
  ended[5].recv(wire_[0], 1, 9);
  for (const size_t i : {4U, 5U}) {
    ASSERT_TRUE(ended[i].transfer.done) << i;
    EXPECT_EQ(ended[i].transfer.status.code(), Code::kPeerFailed) << i;
  }
  for (const One& other : others) EXPECT_FALSE(other.transfer.done);
  One answer(2 * kLong);
  answer.recv(wire_[2], 0, 4);
  settle();
  EXPECT_TRUE(others[2].transfer.done && answer.transfer.done);
}

// A rank that leaves has nothing under way: it has taken back what still is at the other end.
TEST_F(Engine, APeerThatLeavesEndsAllTransfersWithIt) {
  std::array<One, 3> ended{One(2 * kLong), One(kLong), One(kLong)};
  One taken_back(2 * kLong);
  ended[0].send(wire_[0], 1, 1);
  taken_back.recv(wire_[1], 0, 1);
  wire_[1].poll();
  wire_.room = 1;
  wire_[0].poll();
  ASSERT_FALSE(ended[0].transfer.done) << "its pieces are under way";
  ended[1].send(wire_[0], 1, 2);
  ended[2].recv(wire_[0], 1, 3);
  wire_[0].note_left(1);
  for (const One& one : ended) {
    ASSERT_TRUE(one.transfer.done);
    EXPECT_EQ(one.transfer.status.message(), "it has left");
  }
}

TEST_F(Engine, WhatTheLinkRefusesFailsAloneAndTheNextGoes) {
  for (const char kind : {'E', 'R', 'G', 'P'}) {
    SCOPED_TRACE(kind);
    const uint64_t bytes = kind == 'E' ? kShort : kLong;
    One send(bytes);
    One receive(bytes);
    receive.recv(wire_[1], 0, 7);
    wire_.refused = kind;
    send.send(wire_[0], 1, 7);
    settle();
    wire_.refused = 0;
    One& failed = kind == 'G' ? receive : send;
    One& other = kind == 'G' ? send : receive;
    ASSERT_TRUE(failed.transfer.done);
    EXPECT_EQ(failed.transfer.status.message(), "refused");
    EXPECT_FALSE(other.transfer.done);
    wire_[kind == 'G' ? 0 : 1].cancel(other.transfer);
    expect_messages_pass();
  }
}

TEST_F(Engine, RanksThatDoNotExistAreRefused) {
  for (const int rank : {-2, 3}) {
    One send(1);
    send.send(wire_[0], rank, 1);
    One receive(1);
    receive.recv(wire_[0], rank, 1);
    for (const One* one : {&send, &receive}) {
      ASSERT_TRUE(one->transfer.done);
      EXPECT_EQ(one->transfer.status.message(),
                fmt::format("there is no rank {}: expected 0 to 2", rank));
    }
  }
}

// Each message says which it is; those of one sender and tag must come in order.
TEST_F(Engine, AnyMixOfMessagesArrivesWholeAndInOrder) {
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    std::mt19937 random(seed);
    std::deque<One> sends;
    std::deque<One> receives;
    std::map<std::pair<int, Tag>, std::deque<Bytes>> expected;  // at rank 1
    for (int step = 0; step < 400; ++step) {
      wire_.room = random() % 4;
      const int source = static_cast<int>(random() % 3);
      const Tag tag = random() % 3;
      const uint32_t kind = random() % 4;
      if (kind == 0) {
        const uint64_t seed_of_data = random();
        One& send = sends.emplace_back(random() % (3 * kShort), seed_of_data);
        expected[{source, tag}].push_back(send.data);
        send.send(wire_[source], 1, tag);
      } else if (kind == 1) {
        const bool any = random() % 4 == 0;
        One& receive = receives.emplace_back(3 * kShort);
        receive.recv(wire_[1], any ? kAnySource : source, tag, random() % 4 == 0 ? 0 : kExactTag);
      } else {
        wire_[static_cast<int>(random() % 3)].poll();
      }
    }
    wire_.room = 1;
    while (receives.size() < sends.size())
      receives.emplace_back(3 * kShort).recv(wire_[1], -1, 0, 0);
    settle();
    // Receives of one tag may want what nobody has sent: these take what is left.
    for (int i = 0; i < 100; ++i) receives.emplace_back(3 * kShort).recv(wire_[1], -1, 0, 0);
    settle();
    for (size_t i = 0; i < sends.size(); ++i) ASSERT_TRUE(sends[i].transfer.done) << seed;
    size_t arrived = 0;
    for (One& receive : receives) {
      if (!receive.transfer.done) {
        wire_[1].cancel(receive.transfer);
        continue;
      }
      ++arrived;
      auto& of_sender = expected[{receive.transfer.source, receive.transfer.tag}];
      receive.data.resize(receive.transfer.bytes);
      ASSERT_FALSE(of_sender.empty()) << seed;
      EXPECT_EQ(receive.data, of_sender.front()) << seed;
      of_sender.pop_front();
    }
    EXPECT_EQ(arrived, sends.size()) << seed;
  }
}

}  // namespace
}  // namespace tutti::match
