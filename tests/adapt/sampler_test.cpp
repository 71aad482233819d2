// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "adapt/sampler.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

// Without a wait.
CallSample call_of_a_second() {
  return {.seconds = 1,
          .first_wait_s = 0,
          .root_keeps_last = false,
          .slots_are_new = false,
          .ranks = 2};
}

TEST(CallSample, DoesNotCountTheFirstWait) {
  CallSample call = call_of_a_second();
  EXPECT_EQ(seconds_of(call), 1);
  call.first_wait_s = 0.25;
  EXPECT_EQ(seconds_of(call), 0.75);
  call.first_wait_s = 1;
  EXPECT_GT(seconds_of(call), 0) << "a cost is more than 0";
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

TEST(MessageSample, OfTwoThatGoBothWaysCountsUntilBothHaveGone) {
  EXPECT_DOUBLE_EQ(seconds_of_both(10, 11, 11), 1);
  EXPECT_DOUBLE_EQ(seconds_of_both(10, 11, 11.75), 1.75);
  EXPECT_DOUBLE_EQ(seconds_of_both(10, 11, 20), 2) << "the other waited for its receive";
}

}  // namespace
}  // namespace tutti
