// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How early receives are posted.
#include "exec/receives.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

constexpr uint64_t kBytes = 64;

Ref send_at(uint64_t i) { return Ref::of(Space::kSend, i * kBytes); }
Ref recv_at(uint64_t i) { return Ref::of(Space::kRecv, i * kBytes); }
Ref scratch_at(uint64_t i) { return Ref::of(Space::kScratch, i * kBytes); }

class Receives : public testing::Test {
 protected:
  void step(StepKind kind, const Ref& dst, const Ref& src) {
    Step step{};
    step.kind = kind;
    step.dst = dst;
    step.src = src;
    step.bytes = kBytes;
    schedule_.steps.push_back(step);
  }
  void recv(const Ref& dst) { step(StepKind::kRecv, dst, {}); }
  void send(const Ref& src) { step(StepKind::kSend, {}, src); }
  void fence() { step(StepKind::kFence, {}, {}); }
  void reduce(const Ref& dst, std::vector<Ref> sources) {
    step(StepKind::kReduce, dst, {});
    schedule_.steps.back().first_source = static_cast<uint32_t>(schedule_.sources.size());
    schedule_.steps.back().source_count = static_cast<uint32_t>(sources.size());
    schedule_.sources.insert(schedule_.sources.end(), sources.begin(), sources.end());
  }
  // Of each receive in turn: the steps that must be complete.
  [[nodiscard]] std::vector<uint32_t> from(bool in_place = false) const {
    std::vector<uint32_t> list;
    for (const ReceiveStep& receive : receives_of(schedule_, in_place)) {
      EXPECT_EQ(schedule_.steps[receive.step].kind, StepKind::kRecv);
      list.push_back(receive.from);
    }
    return list;
  }
  using Steps = std::vector<uint32_t>;

  Schedule schedule_;
};

TEST_F(Receives, IntoMemoryOfTheirOwnGoFirst) {
  send(send_at(0));
  recv(recv_at(0));
  send(recv_at(0));
  recv(recv_at(1));
  EXPECT_EQ(from(), (Steps{0, 0}));
}

TEST_F(Receives, WaitForWhatReadsTheirMemory) {
  recv(scratch_at(0));
  reduce(recv_at(0), {scratch_at(0), send_at(0)});
  recv(scratch_at(0));
  reduce(recv_at(1), {scratch_at(0), send_at(1)});
  recv(scratch_at(1));
  EXPECT_EQ(from(), (Steps{0, 2, 2})) << "in the order of the steps";
}

TEST_F(Receives, WaitForWhatWritesTheirMemory) {
  reduce(recv_at(3), {send_at(0), send_at(1)});
  step(StepKind::kCopy, recv_at(4), send_at(2));
  recv(recv_at(3));
  recv(recv_at(4));
  EXPECT_EQ(from(), (Steps{1, 2}));
}

TEST_F(Receives, WaitForTheSendOfTheirMemoryAndForFences) {
  send(recv_at(0));
  fence();
  send(recv_at(1));
  recv(recv_at(0));
  recv(recv_at(1));
  EXPECT_EQ(from(), (Steps{2, 3}));
}

TEST_F(Receives, WaitForAnyUseOfTheOtherBufferIfBothAreOne) {
  send(send_at(7));
  recv(recv_at(0));
  EXPECT_EQ(from(false), (Steps{0}));
  EXPECT_EQ(from(true), (Steps{1}));
}

TEST_F(Receives, OfPartlyTheSameMemoryConflict) {
  step(StepKind::kCopy, scratch_at(0), send_at(0));
  recv(Ref::of(Space::kScratch, kBytes - 1));
  recv(Ref::of(Space::kScratch, kBytes));
  EXPECT_EQ(from(), (Steps{1, 2}));
}

}  // namespace
}  // namespace tutti
