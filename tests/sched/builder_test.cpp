// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "sched/builder.hpp"

#include <gtest/gtest.h>

#include "algorithms/algorithm.hpp"

namespace tutti {
namespace {

constexpr Ref kSendStart = Ref::of(Space::kSend, 0);
constexpr Ref kRecvStart = Ref::of(Space::kRecv, 0);

TEST(PartOf, PartsFollowOneAnotherAndCoverAll) {
  for (const uint64_t total : {0ULL, 1ULL, 63ULL, 64ULL, 65ULL, 1000ULL, 4096ULL}) {
    for (int parts = 1; parts <= 9; ++parts) {
      uint64_t end = 0;
      std::vector<int> with_data;
      for (int i = 0; i < parts; ++i) {
        const Range range = part_of(total, parts, i);
        if (range.bytes > 0) {
          with_data.push_back(i);
          EXPECT_EQ(range.offset, end);
          EXPECT_EQ(range.offset % 64, 0U);
        }
        end = range.offset + range.bytes;
      }
      EXPECT_EQ(end, total);
      EXPECT_EQ(parts_with_data(total, parts), with_data);
    }
  }
}

TEST(Builder, DropsStepsWithoutEffect) {
  Schedule schedule;
  Builder builder(schedule);
  builder.copy(kRecvStart, kSendStart, 0);
  builder.copy(kRecvStart, kRecvStart, 8);
  builder.reduce(kRecvStart, {kSendStart, kRecvStart}, 0, true);
  builder.reduce(kRecvStart, {kRecvStart}, 8, false);
  builder.send(1, kSendStart, 0);
  builder.recv(1, kRecvStart, 0);
  builder.fence();
  EXPECT_TRUE(schedule.steps.empty());
}

TEST(Builder, ReductionOfOneSourceIsACopyUnlessItFinishes) {
  Schedule schedule;
  Builder builder(schedule);
  builder.reduce(kRecvStart, {kSendStart}, 8, false);
  builder.reduce(kRecvStart, {kSendStart}, 8, true);
  ASSERT_EQ(schedule.steps.size(), 2U);
  EXPECT_EQ(schedule.steps[0].kind, StepKind::kCopy);
  EXPECT_EQ(schedule.steps[1].kind, StepKind::kReduce);
}

TEST(Builder, FenceIsKeptOncePerGroupOfSends) {
  Schedule schedule;
  Builder builder(schedule);
  builder.send(1, kSendStart, 8);
  builder.fence();
  builder.fence();
  builder.send(1, kSendStart, 8);
  builder.fence();
  EXPECT_EQ(schedule.steps.size(), 4U);
}

TEST(Builder, TicksAreTheHighestPublishedOrAnnounced) {
  Schedule schedule;
  Builder builder(schedule);
  EXPECT_EQ(schedule.ticks, 1U);
  builder.publish(3);
  builder.await_all(7);
  EXPECT_EQ(schedule.ticks, 3U);
  builder.ticks(5);
  EXPECT_EQ(schedule.ticks, 5U);
}

TEST(Builder, ScratchPiecesDoNotShareALine) {
  Schedule schedule;
  Builder builder(schedule);
  EXPECT_EQ(builder.scratch(1).offset, 0U);
  EXPECT_EQ(builder.scratch(64).offset, 64U);
  EXPECT_EQ(builder.scratch(65).offset, 128U);
  EXPECT_EQ(schedule.scratch_bytes, 256U);
}

TEST(ScheduleText, NamesEveryKindOfStep) {
  Schedule schedule;
  Builder builder(schedule);
  builder.copy(Ref::of(Space::kWindow, 64, 2), kSendStart, 8, true);
  builder.reduce(kRecvStart, {Ref::of(Space::kSlot, 0, 0), Ref::of(Space::kSlot, 8, 1)}, 4096,
                 true);
  builder.send(3, Ref::of(Space::kScratch, 16), 8);
  builder.recv(0, Ref::of(Space::kLine, 0, 1), 8);
  builder.fence();
  builder.publish(2);
  builder.await(5, 4);
  builder.await_all(1);
  EXPECT_EQ(to_string(schedule),
            "   0  copy window[2]+64 <- send+0  (8 B, non-temporal)\n"
            "   1  reduce recv+0 <- slot[0]+0, slot[1]+8  (4096 B, finishes)\n"
            "   2  send scratch+16 -> rank 3  (8 B)\n"
            "   3  recv line[1]+0 <- rank 0  (8 B)\n"
            "   4  fence\n"
            "   5  publish tick 2\n"
            "   6  await rank 5 tick 4\n"
            "   7  await all tick 1\n");
}

TEST(Registry, EveryAlgorithmIsFoundByItsName) {
  for (const Algorithm* algorithm : algorithms()) {
    EXPECT_EQ(find_algorithm(algorithm->collective, algorithm->name), algorithm)
        << collective_name(algorithm->collective) << " " << algorithm->name;
  }
  EXPECT_EQ(find_algorithm(Collective::kAllreduce, "no such algorithm"), nullptr);
}

}  // namespace
}  // namespace tutti
