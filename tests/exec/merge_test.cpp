// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Which steps run in one pass.
#include "exec/merge.hpp"

#include <gtest/gtest.h>

#include "sched/builder.hpp"

namespace tutti {
namespace {

constexpr uint64_t kBytes = 64;

Ref send_at(uint64_t offset) { return Ref::of(Space::kSend, offset); }
Ref recv_at(uint64_t offset) { return Ref::of(Space::kRecv, offset); }
Ref window_at(uint64_t offset, int rank) { return Ref::of(Space::kWindow, offset, rank); }

class Merge : public testing::Test {
 protected:
  // Whether the first step was merged with the second.
  bool merged(bool in_place = false, Collective collective = Collective::kAllreduce) {
    Problem problem;
    problem.collective = collective;
    problem.ranks = 2;
    problem.in_place = in_place;
    merge_copies(problem, schedule_);
    for (size_t i = 1; i < schedule_.steps.size(); ++i) {
      EXPECT_FALSE(schedule_.steps[i].with_next);
    }
    return schedule_.steps.front().with_next;
  }

  Schedule schedule_;
  Builder b_{schedule_};
};

TEST_F(Merge, AResultAndItsCopy) {
  b_.reduce(window_at(0, 0), {send_at(0), window_at(0, 1)}, kBytes, true);
  b_.copy(recv_at(0), window_at(0, 0), kBytes, true);
  EXPECT_TRUE(merged());
}

TEST_F(Merge, TwoCopiesOfOneSource) {
  b_.copy(window_at(0, 0), send_at(0), kBytes);
  b_.copy(recv_at(0), send_at(0), kBytes, true);
  EXPECT_TRUE(merged());
}

TEST_F(Merge, NoMoreThanTwo) {
  b_.copy(window_at(0, 0), send_at(0), kBytes);
  b_.copy(recv_at(0), send_at(0), kBytes);
  b_.copy(recv_at(kBytes), send_at(0), kBytes);
  EXPECT_TRUE(merged()) << "the first two, and not the second with the third";
}

TEST_F(Merge, NoCopiesOfTwoSources) {
  b_.copy(window_at(0, 0), send_at(0), kBytes);
  b_.copy(recv_at(0), send_at(kBytes), kBytes);
  EXPECT_FALSE(merged());
}

TEST_F(Merge, NoCopyOfACopy) {
  b_.copy(window_at(0, 0), send_at(0), kBytes);
  b_.copy(recv_at(0), window_at(0, 0), kBytes);
  EXPECT_FALSE(merged()) << "which would be right as well, but nobody does so";
}

TEST_F(Merge, NoOtherCopy) {
  b_.reduce(window_at(0, 0), {send_at(0), window_at(0, 1)}, kBytes, true);
  b_.copy(recv_at(0), window_at(0, 1), kBytes);
  EXPECT_FALSE(merged());
}

TEST_F(Merge, NoCopyOfAPart) {
  b_.reduce(window_at(0, 0), {send_at(0), window_at(0, 1)}, kBytes, true);
  b_.copy(recv_at(0), window_at(0, 0), kBytes / 2);
  EXPECT_FALSE(merged());
}

TEST_F(Merge, NoCopyThatComesLater) {
  b_.reduce(window_at(0, 0), {send_at(0), window_at(0, 1)}, kBytes, true);
  b_.publish(2);
  b_.copy(recv_at(0), window_at(0, 0), kBytes);
  EXPECT_FALSE(merged());
}

TEST_F(Merge, ACopyToWhereASourceLies) {
  b_.reduce(window_at(0, 0), {send_at(kBytes), window_at(0, 1)}, kBytes, true);
  b_.copy(recv_at(kBytes), window_at(0, 0), kBytes);
  EXPECT_TRUE(merged(true));
}

// The first elements of the copy would replace others of the source before they are read.
TEST_F(Merge, NoCopyToBesideWhereASourceLies) {
  b_.reduce(window_at(0, 0), {recv_at(0), window_at(0, 1)}, kBytes, true);
  b_.copy(recv_at(kBytes / 2), window_at(0, 0), kBytes);
  EXPECT_FALSE(merged());
}

TEST_F(Merge, NoCopyToABufferThatLiesNobodyKnowsHow) {
  b_.reduce(window_at(0, 0), {send_at(0), window_at(0, 1)}, kBytes, true);
  b_.copy(recv_at(0), window_at(0, 0), kBytes);
  EXPECT_FALSE(merged(true, Collective::kReduceScatter));
}

}  // namespace
}  // namespace tutti
