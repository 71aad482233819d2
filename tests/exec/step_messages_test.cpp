// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "exec/step_messages.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace tutti {
namespace {

// Nothing moves by itself: tests end transfers.
class FakeEndpoint final : public Endpoint {
 public:
  struct Posted {
    Transfer* transfer;
    Tag tag;
    uint64_t bytes;
  };
  void send(int, Tag tag, const void*, uint64_t bytes, Transfer& transfer) override {
    sends.push_back({&transfer, tag, bytes});
  }
  void recv(int, Tag tag, Tag, void*, uint64_t bytes, Transfer& transfer) override {
    receives.push_back({&transfer, tag, bytes});
  }
  bool recv_if_here(Tag, Tag, void*, uint64_t, Transfer&) override { return false; }
  bool poll() override { return false; }
  bool poll_for(const Transfer&) override { return false; }
  void cancel(Transfer& transfer) override { cancelled.push_back(&transfer); }
  [[nodiscard]] uint64_t eager_bytes() const override { return 0; }

  std::vector<Posted> sends;
  std::vector<Posted> receives;
  std::vector<Transfer*> cancelled;
};

constexpr int kPeer = 1;
constexpr uint64_t kBytes = 64;
constexpr Tag kTag = Tag{3} << 32 | 0x1234;  // of call 3

class StepMessagesOf : public testing::Test {
 protected:
  StepMessagesOf() { messages.start(3, 0x1234); }

  // Posts receives of `kBytes`, for steps whose memory is free from step `from` on.
  void post(const std::vector<uint32_t>& from, size_t now) {
    Schedule schedule;
    std::vector<ReceiveStep> steps;
    for (const uint32_t each : from) {
      Step step;
      step.kind = StepKind::kRecv;
      step.peer = kPeer;
      step.bytes = kBytes;
      steps.push_back({.step = static_cast<uint32_t>(schedule.steps.size()), .from = each});
      schedule.steps.push_back(step);
    }
    messages.post(schedule, steps, now, [this](const Ref&) { return memory.data(); });
  }
  void arrive(uint64_t bytes, Tag tag = kTag, Status status = {}) {
    Transfer& transfer = *endpoint.receives.front().transfer;
    transfer.done = true;
    transfer.bytes = bytes;
    transfer.sent = bytes;
    transfer.tag = tag;
    transfer.status = std::move(status);
  }

  FakeEndpoint endpoint;
  StepMessages messages{endpoint};
  std::array<std::byte, kBytes> memory{};
};

TEST_F(StepMessagesOf, SendsAreDoneWhenAllAre) {
  EXPECT_TRUE(messages.sends_done());
  messages.send(kPeer, memory.data(), kBytes);
  messages.send(kPeer, memory.data(), kBytes);
  EXPECT_EQ(endpoint.sends.front().tag, kTag);
  endpoint.sends[1].transfer->done = true;
  EXPECT_FALSE(messages.sends_done());
  EXPECT_EQ(messages.receiver(), kPeer);
  EXPECT_EQ(messages.bytes_to_receiver(), kBytes);
  endpoint.sends[0].transfer->done = true;
  EXPECT_TRUE(messages.sends_done());
  EXPECT_FALSE(messages.sends());
}

TEST_F(StepMessagesOf, ASendThatFailedIsNeverDone) {
  messages.send(kPeer, memory.data(), kBytes);
  *endpoint.sends[0].transfer = {.done = true, .status = {Code::kPeerFailed, "gone"}};
  EXPECT_FALSE(messages.sends_done());
  EXPECT_EQ(messages.failed().code(), Code::kPeerFailed);
}

TEST_F(StepMessagesOf, ReceivesArePostedOnceTheirMemoryIsFree) {
  post({0, 0, 5}, 0);
  EXPECT_EQ(endpoint.receives.size(), 2U);
  post({0, 0, 5}, 4);
  EXPECT_EQ(endpoint.receives.size(), 2U);
  post({0, 0, 5}, 5);
  EXPECT_EQ(endpoint.receives.size(), 3U);
}

TEST_F(StepMessagesOf, OnlySomeReceivesArePostedAtATime) {
  post(std::vector<uint32_t>(100, 0), 0);
  EXPECT_GT(endpoint.receives.size(), 1U);
  EXPECT_LT(endpoint.receives.size(), 100U);
}

TEST_F(StepMessagesOf, AReceiveEndsByWhatCame) {
  using Received = StepMessages::Received;
  struct Case {
    uint64_t bytes;
    Tag tag;
    Code code;
    Received received;
  };
  for (const Case& each : {Case{kBytes, kTag, Code::kOk, Received::kDone},
                           Case{kBytes - 1, kTag, Code::kOk, Received::kOtherSize},
                           Case{kBytes, kTag, Code::kTruncated, Received::kOtherSize},
                           Case{kBytes, kTag + 1, Code::kOk, Received::kOtherCall},
                           Case{0, 0, Code::kPeerFailed, Received::kFailed}}) {
    FakeEndpoint fake;
    endpoint = fake;
    StepMessages one(endpoint);
    one.start(3, 0x1234);
    Schedule schedule;
    Step step;
    step.kind = StepKind::kRecv;
    step.peer = kPeer;
    step.bytes = kBytes;
    schedule.steps.push_back(step);
    const std::vector<ReceiveStep> steps = {{.step = 0, .from = 0}};
    one.post(schedule, steps, 0, [this](const Ref&) { return memory.data(); });
    EXPECT_EQ(one.receive(kBytes), Received::kNotYet);
    arrive(each.bytes, each.tag, each.code == Code::kOk ? Status() : Status(each.code, "why"));
    EXPECT_EQ(one.receive(kBytes), each.received);
  }
}

TEST_F(StepMessagesOf, WhatIsGivenUpIsCancelledUnlessItIsDone) {
  messages.send(kPeer, memory.data(), kBytes);
  messages.send(kPeer, memory.data(), kBytes);
  post({0}, 0);
  endpoint.sends[0].transfer->done = true;
  messages.cancel();
  EXPECT_EQ(endpoint.cancelled.size(), 2U);
  EXPECT_FALSE(messages.sends());
  EXPECT_FALSE(messages.receives());
}

}  // namespace
}  // namespace tutti
