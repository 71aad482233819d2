// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Rails that break in the middle of messages: what was under way goes over the others, once and
// unchanged, and only the last one's end is the end of the peer.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bootstrap/meeting.hpp"
#include "core/network.hpp"
#include "transports/frames/endpoint.hpp"
#include "transports/frames/rails.hpp"
#include "transports/pattern.hpp"
#include "transports/tcp/port.hpp"

namespace tutti::frames {
namespace {

using tutti_test::kLongMs;
using tutti_test::pattern;

constexpr int kRanks = 2;

// Ranks in one process, with several connections to one another.
class Railed : public testing::TestWithParam<uint32_t> {
 protected:
  void open(uint32_t rails) {
    log::set_level(LogLevel::kError);
    auto names = std::make_shared<std::vector<std::string>>();
    std::vector<std::vector<std::string>> addresses(rails);
    std::vector<std::vector<std::unique_ptr<Port>>> opened(kRanks);
    for (int rank = 0; rank < kRanks; ++rank) {
      names->push_back("rank " + std::to_string(rank));
      for (uint32_t rail = 0; rail < rails; ++rail) {
        auto port = tcp::TcpPort::open(parse_address("127.0.0.1", 0), "tcp " + std::to_string(rail),
                                       rank, {.replaceable = true});
        ASSERT_TRUE(port.ok()) << port.status().message();
        addresses[rail].push_back((*port)->address());
        ports_[rank].push_back(port->get());
        opened[static_cast<size_t>(rank)].push_back(*std::move(port));
      }
    }
    for (int rank = 0; rank < kRanks; ++rank) {
      for (uint32_t rail = 0; rail < rails; ++rail) {
        ASSERT_TRUE(ports_[rank][rail]->insert(addresses[rail]).ok());
      }
      ends_.push_back(std::make_unique<FrameEndpoint>(
          std::make_unique<RailsPort>(std::move(opened[static_cast<size_t>(rank)])), names, rank,
          4711));
      ASSERT_TRUE(ends_.back()->open().ok());
      ends_.back()->mend_rails();
    }
  }
  void TearDown() override {
    std::vector<std::thread> threads;  // all at once, for they wait for one another
    for (auto& end : ends_) threads.emplace_back([&end] { end.reset(); });
    for (std::thread& thread : threads) thread.join();
  }

  void poll(int times = 1) {
    for (int i = 0; i < times; ++i) {
      for (auto& end : ends_) end->poll();
    }
  }
  template <typename Ready>
  bool wait(const Ready& ready) {
    const int64_t deadline = now_ms() + kLongMs;
    while (!ready()) {
      if (now_ms() > deadline) return false;
      poll();
    }
    return true;
  }
  // As if the system had found it broken; the other end finds it closed.
  void cut(int rank, uint32_t rail) { ports_[rank][rail]->cut(1 - rank, 0); }

  struct Message {
    int from;
    std::vector<std::byte> sent;
    std::vector<std::byte> got;
    Transfer send;
    Transfer receive;
  };
  Message& begin(int from, size_t bytes) {
    Message& message = messages_.emplace_back();
    message.from = from;
    message.sent = pattern(messages_.size(), bytes);
    message.got.resize(bytes);
    ends_[static_cast<size_t>(1 - from)]->recv(from, 1, kExactTag, message.got.data(), bytes,
                                               message.receive);
    ends_[static_cast<size_t>(from)]->send(1 - from, 1, message.sent.data(), bytes, message.send);
    return message;
  }
  // Over every rail.
  void connect() {
    begin(0, 9'000'000);
    ASSERT_NO_FATAL_FAILURE(expect_all_come());
    messages_.clear();
  }
  void expect_all_come() {
    ASSERT_TRUE(wait([&] {
      return std::ranges::all_of(
          messages_, [](const Message& one) { return one.send.done && one.receive.done; });
    }));
    for (const Message& message : messages_) {
      EXPECT_TRUE(message.send.status.ok()) << message.send.status.message();
      EXPECT_TRUE(message.receive.status.ok()) << message.receive.status.message();
      EXPECT_TRUE(message.got == message.sent) << message.sent.size() << " from " << message.from;
    }
  }

  std::vector<tcp::TcpPort*> ports_[kRanks];
  std::vector<std::unique_ptr<FrameEndpoint>> ends_;
  std::deque<Message> messages_;
};

TEST_P(Railed, ALostRailCostsNoMessageInEitherDirection) {
  std::mt19937 random(GetParam());
  const uint32_t rails = static_cast<uint32_t>(2 + random() % 3);
  open(rails);
  std::vector<uint32_t> order(rails);
  for (uint32_t rail = 0; rail < rails; ++rail) order[rail] = rail;
  std::shuffle(order.begin(), order.end(), random);
  for (uint32_t lost = 0; lost < rails; ++lost) {  // the last turn is without a loss
    for (int i = 0; i < 30; ++i) {
      const size_t bytes = random() % 3 == 0 ? random() % 6'000'000 : random() % 70'000;
      begin(static_cast<int>(random() % 2), bytes);
      if (random() % 4 == 0) poll(static_cast<int>(random() % 8));
    }
    if (lost + 1 < rails) cut(static_cast<int>(random() % 2), order[lost]);
    ASSERT_NO_FATAL_FAILURE(expect_all_come()) << "with " << lost << " lost of " << rails;
    messages_.clear();
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Railed, testing::Range(1U, 9U));

class BrokenRails : public Railed {};

TEST_F(BrokenRails, AtBothEndsAtOnceAreMended) {
  open(3);
  for (int i = 0; i < 8; ++i) begin(i % 2, 5'000'000);
  poll(5);
  cut(0, 0);
  cut(1, 2);
  expect_all_come();
}

TEST_F(BrokenRails, ThatNobodyNeededAreKnownWhenTheyAre) {
  open(2);
  begin(0, 3'000'000);
  expect_all_come();
  cut(1, 1);
  poll(10);
  for (int i = 0; i < 6; ++i) begin(i % 2, 3'000'000);
  for (int i = 0; i < 100; ++i) begin(i % 2, 60'000);
  expect_all_come();
}

TEST_F(BrokenRails, AreTheEndOfThePeerWithTheLast) {
  open(2);
  connect();
  Message& there = begin(0, 30'000'000);
  poll(3);
  cut(0, 0);
  poll(3);
  cut(0, 1);
  ASSERT_TRUE(wait([&] { return there.send.done && there.receive.done; }));
  EXPECT_EQ(there.send.status.code(), Code::kPeerFailed);
  EXPECT_TRUE(there.send.status.message().starts_with("rank 1: ")) << there.send.status.message();
  EXPECT_EQ(there.receive.status.code(), Code::kPeerFailed);
}

TEST_F(BrokenRails, DoNotHoldUpAReceiveThatWasGivenUp) {
  open(2);
  connect();
  for (const int polls : {2, 4, 8}) {
    const Message& kept = begin(0, 9'000'000);
    Message& given_up = begin(0, 9'000'000);
    poll(polls);
    ends_[1]->cancel(given_up.receive);
    if (polls == 4) cut(1, 1);
    ASSERT_TRUE(wait([&] { return kept.receive.done && given_up.send.done; })) << polls;
    EXPECT_TRUE(kept.got == kept.sent);
    messages_.clear();
  }
  begin(1, 9'000'000);
  expect_all_come();
}

TEST_F(BrokenRails, DoNotKeepAReceiveWhoseSenderTookItBackAndLeft) {
  open(2);
  connect();
  Message& taken_back = begin(0, 9'000'000);
  for (int i = 0; i < 10; ++i) ends_[1]->poll();  // grants it
  ends_[0]->cancel(taken_back.send);
  ends_[0]->leave({});
  ASSERT_TRUE(wait([&] { return taken_back.receive.done; }));
  EXPECT_EQ(taken_back.receive.status.message(), "rank 0 has destroyed its communicator");
}

}  // namespace
}  // namespace tutti::frames
