// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "adapt/sampler.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

// From 10 to 11 s, long after another call, without a wait.
CallSample call_of_a_second() {
  return {.begun_s = 10,
          .ended_s = 11,
          .first_wait_s = 0,
          .last_ended_s = 5,
          .next_to_last = true,
          .same_arm = true,
          .root_gives = false,
          .root_keeps_last = false,
          .slots_are_new = false,
          .avoids_used_slots = false,
          .ranks = 2,
          .block_bytes = 1 << 20};
}

TEST(CallSample, DoesNotCountTheFirstWait) {
  CallSample call = call_of_a_second();
  EXPECT_EQ(seconds_of(call), 1);
  call.first_wait_s = 0.25;
  EXPECT_EQ(seconds_of(call), 0.75);
  call.first_wait_s = 1;
  EXPECT_GT(seconds_of(call), 0) << "a cost is more than 0";
}

TEST(CallSample, CountsFromEndToEndBehindARootThatGives) {
  CallSample call = call_of_a_second();
  call.root_gives = true;
  call.first_wait_s = 0.5;
  EXPECT_EQ(seconds_of(call), 0.5) << "the call before is long over";
  call.last_ended_s = 9.9375;
  EXPECT_EQ(seconds_of(call), 1.0625);
  call.same_arm = false;
  EXPECT_EQ(seconds_of(call), std::nullopt) << "some of it is work of the other arm";
  call.next_to_last = false;
  EXPECT_EQ(seconds_of(call), 0.5) << "another call was between";
}

TEST(CallSample, SaysNothingInSlotsThatAreNew) {
  CallSample call = call_of_a_second();
  call.slots_are_new = true;
  EXPECT_EQ(seconds_of(call), std::nullopt);
}

TEST(CallSample, CountsTheRootsOwnBlockThatPeersDoNotWaitFor) {
  CallSample call = call_of_a_second();
  call.root_keeps_last = true;
  call.ranks = 4;
  EXPECT_DOUBLE_EQ(*seconds_of(call), 4.0 / 3);
}

TEST(CallSample, CountsMoreWhereSlotsAreColdInATrial) {
  CallSample call = call_of_a_second();
  call.avoids_used_slots = true;
  const double of_long = *seconds_of(call);
  EXPECT_GT(of_long, 1);
  call.block_bytes = 64 << 10;
  EXPECT_GT(*seconds_of(call), of_long) << "a trial of short calls is shorter";
}

TEST(MessageSample, CountsUntilBothHaveGone) {
  MessageSample message{
      .read = false, .bytes = 1 << 20, .begun_s = 10, .ended_s = 11, .both_ended_s = 11};
  EXPECT_DOUBLE_EQ(seconds_of(message), 1);
  message.both_ended_s = 11.75;
  EXPECT_DOUBLE_EQ(seconds_of(message), 1.75);
  message.both_ended_s = 20;
  EXPECT_DOUBLE_EQ(seconds_of(message), 2) << "the other waited for its receive";
}

TEST(MessageSample, ShortReadsCountForMore) {
  const auto seconds = [](bool read, uint64_t bytes) {
    return seconds_of(MessageSample{read, bytes, 10, 11, 11});
  };
  EXPECT_GT(seconds(true, 64 << 10), seconds(false, 64 << 10));
  EXPECT_DOUBLE_EQ(seconds(true, 1 << 20), seconds(false, 1 << 20));
}

TEST(MessageWork, CountsWhatARankMissesByReading) {
  MessageWork work{.read = false,
                   .bytes = 1 << 20,
                   .worked_s = 1,
                   .one_piece = true,
                   .from_several = false,
                   .sent_since = false};
  EXPECT_EQ(seconds_of(work), 1);
  work.one_piece = false;
  EXPECT_GT(seconds_of(work), 1) << "each piece gives the core away";
  work.read = true;
  EXPECT_EQ(seconds_of(work), 1) << "from one sender, which waits";
  work.from_several = true;
  EXPECT_GT(seconds_of(work), 1) << "the others are idle";
  work.sent_since = true;
  EXPECT_EQ(seconds_of(work), 1) << "turns are long";
  work.one_piece = true;
  const double a_turn = seconds_of(work);
  EXPECT_GT(a_turn, 1);
  work.bytes = 64 << 10;
  EXPECT_GT(seconds_of(work), a_turn) << "several turns";
}

}  // namespace
}  // namespace tutti
