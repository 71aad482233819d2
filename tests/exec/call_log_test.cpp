// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "exec/call_log.hpp"

#include <gtest/gtest.h>

#include "fake_lane_memory.hpp"

namespace tutti {
namespace {

constexpr bool kOversubscribed = true;

class CallLogs : public ::testing::Test {
 protected:
  explicit CallLogs(bool oversubscribed = false)
      : first(0, memory.ranks(), oversubscribed), second(1, memory.ranks(), oversubscribed) {}

  static void call(CallLog& log, uint32_t signature = 7) {
    log.start(signature);
    log.enter({});
    log.finish(1);
  }

  FakeLaneMemory memory{2, {}};
  CallLog first;
  CallLog second;
};

TEST_F(CallLogs, FirstCallBeginsAtOnce) {
  first.start(7);
  EXPECT_TRUE(first.may_begin(false));
}

TEST_F(CallLogs, AnEntryIsSeenOnceItIsMade) {
  first.start(7);
  EXPECT_EQ(first.look_at(1, 1), CallLog::Look::kNotYet);
  EXPECT_TRUE(first.has_waited());
  second.start(7);
  second.enter({});
  EXPECT_FALSE(first.knows_entry(1, 1));
  EXPECT_EQ(first.look_at(1, 1), CallLog::Look::kIsThere);
  EXPECT_TRUE(first.knows_entry(1, 1));
}

TEST_F(CallLogs, ARankIsAtMostSoManyCallsAhead) {
  for (uint32_t ahead = 0; ahead < first.most_ahead(); ++ahead) {
    first.start(7);
    ASSERT_TRUE(first.may_begin(false)) << ahead;
    first.enter({});
    first.finish(1);
  }
  first.start(7);
  EXPECT_FALSE(first.may_begin(false));
  EXPECT_EQ(first.fault(), CallLog::Fault::kNone);
  // Having had to wait, it waits for more than it must.
  for (uint32_t i = 0; i < first.most_ahead() / 2; ++i) call(second);
  EXPECT_FALSE(first.may_begin(false));
  call(second);
  EXPECT_TRUE(first.may_begin(false));
}

class CallLogsOfManyRanks : public CallLogs {
 protected:
  CallLogsOfManyRanks() : CallLogs(kOversubscribed) {}
};

TEST_F(CallLogsOfManyRanks, UseAllLines) {
  EXPECT_EQ(first.most_ahead(), kCallLines - 1);
  EXPECT_NE(&first.line_of(0, 1), &first.line_of(0, kFewCallLines + 1));
  EXPECT_EQ(&first.line_of(0, 1), &first.line_of(0, kCallLines + 1));
}

TEST_F(CallLogs, ACallBeginsAfterAnother) {
  call(first);
  call(second);
  call(first);
  first.start(7);
  first.delay_until_entered(2);
  EXPECT_FALSE(first.may_begin(false));
  call(second);
  EXPECT_TRUE(first.may_begin(false));
}

TEST_F(CallLogs, CallsThatDifferAreFound) {
  first.start(7);
  call(second, 8);
  EXPECT_EQ(first.look_at(1, 1), CallLog::Look::kFault);
  EXPECT_EQ(first.fault(), CallLog::Fault::kDiffers);
  EXPECT_EQ(first.faulty_peer(), 1);
  EXPECT_EQ(first.faulty_call(), 1U);
}

TEST_F(CallLogs, ADifferenceShowsInAllCallsAfterIt) {
  for (const uint32_t signature : {7U, 7U, 7U}) call(first, signature);
  for (const uint32_t signature : {8U, 7U, 7U}) call(second, signature);
  EXPECT_EQ(first.look_at(1, 3), CallLog::Look::kFault);
}

TEST_F(CallLogs, OfALaterCallInTheSameLineNothingIsTold) {
  const uint32_t lines = first.most_ahead() + 1;
  first.start(7);
  for (uint32_t i = 0; i <= lines; ++i) call(second);
  EXPECT_EQ(second.last_call_of(1), lines + 1);
  EXPECT_EQ(first.look_at(1, 1), CallLog::Look::kIsThere);
}

TEST_F(CallLogs, WhoHasLeftIsNotWaitedFor) {
  first.start(7);
  memory.leave(1);
  EXPECT_EQ(first.look_at(1, 1), CallLog::Look::kFault);
  EXPECT_EQ(first.fault(), CallLog::Fault::kLeft);
}

TEST_F(CallLogs, WhatWasEnteredBeforeLeavingCounts) {
  call(second);
  memory.leave(1);
  first.start(7);
  EXPECT_EQ(first.look_at(1, 1), CallLog::Look::kIsThere);
}

TEST_F(CallLogs, LastCallsAreComparedWhenARankLeaves) {
  call(first);
  EXPECT_EQ(first.look_at_last_calls(1), CallLog::Look::kNotYet);
  call(second);
  EXPECT_EQ(first.look_at_last_calls(1), CallLog::Look::kIsThere);
  call(first);
  call(second, 8);
  EXPECT_EQ(first.look_at_last_calls(1), CallLog::Look::kFault);
  EXPECT_EQ(first.fault(), CallLog::Fault::kDiffers);
}

TEST_F(CallLogs, WhoLeavesEarlierIsFoundByWhoLeavesLast) {
  call(first);
  memory.leave(1);
  memory.leave(0);
  EXPECT_EQ(first.look_at_last_calls(1), CallLog::Look::kFault);
  EXPECT_EQ(first.fault(), CallLog::Fault::kLeft);
  EXPECT_EQ(first.faulty_call(), 0U);
}

TEST_F(CallLogs, WhoLeavesAfterMoreCallsIsFoundByWhoLeavesAfterIt) {
  call(first);
  call(second);
  call(second);
  EXPECT_EQ(first.look_at_last_calls(1), CallLog::Look::kIsThere) << "it waits in vain, perhaps";
  memory.leave(1);
  EXPECT_EQ(first.look_at_last_calls(1), CallLog::Look::kFault);
  EXPECT_EQ(first.fault(), CallLog::Fault::kLeft);
  EXPECT_EQ(first.faulty_call(), 2U);
}

TEST_F(CallLogs, WhoHasLeftAfterACallThatDiffersIsFoundInTheNext) {
  call(first);
  call(second, 8);
  memory.leave(1);
  first.start(7);
  EXPECT_EQ(first.look_at(1, 2), CallLog::Look::kFault);
  EXPECT_EQ(first.fault(), CallLog::Fault::kDiffers);
  EXPECT_EQ(first.faulty_call(), 1U);
}

TEST_F(CallLogs, TicksCountOnFromCallToCall) {
  for (CallLog* log : {&first, &second}) {
    log->start(7);
    log->publish(3);
    log->finish(3);
  }
  first.start(7);
  EXPECT_FALSE(first.saw_tick(1, 1, first.tick_of(1).load()));
  second.start(7);
  second.publish(2);
  EXPECT_TRUE(first.saw_tick(1, 2, first.tick_of(1).load()));
  EXPECT_FALSE(first.knows_tick(1, 3));
}

TEST(CallLog, CountsThatHaveWrappedAroundAreLater) {
  EXPECT_TRUE(reached(5, 5));
  EXPECT_TRUE(reached(3, UINT32_MAX - 3));
  EXPECT_FALSE(reached(UINT32_MAX - 3, 3));
  EXPECT_EQ(later(UINT32_MAX, 1), 1U);
}

}  // namespace
}  // namespace tutti
