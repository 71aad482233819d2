// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/episodes.hpp"

#include <gtest/gtest.h>

namespace tutti::tools {
namespace {

using tutti::inspect::Cause;
using tutti::inspect::Finding;
using tutti::inspect::Outcome;
using tutti::inspect::Verdict;

Verdict verdict(Outcome outcome, Cause cause, int rank, double share = 0.5) {
  Finding finding{.cause = cause, .outcome = outcome, .text = "", .advice = "", .waited_s = 2};
  finding.ranks = {rank};
  finding.share = share;
  return {.outcome = outcome, .text = "", .findings = {finding}};
}

const Verdict kWell = {.outcome = Outcome::kGoesOn, .text = ""};
const Verdict kStopped = verdict(Outcome::kHangs, Cause::kStopped, 1);

TEST(Episodes, TellOfAHangOncePerCause) {
  Episodes episodes(0.15);
  const auto news = episodes.take(kStopped, 5000);
  ASSERT_EQ(news.size(), 1u);
  EXPECT_TRUE(news[0].begins);
  EXPECT_EQ(news[0].outcome, Outcome::kHangs);
  EXPECT_EQ(news[0].finding.cause, Cause::kStopped);
  EXPECT_TRUE(episodes.take(kStopped, 10000).empty());
  EXPECT_EQ(episodes.take(verdict(Outcome::kHangs, Cause::kDead, 1), 15000).size(), 1u);
  EXPECT_EQ(episodes.take(verdict(Outcome::kHangs, Cause::kStopped, 2), 20000).size(), 1u);
  EXPECT_TRUE(episodes.take(kStopped, 25000).empty());
  EXPECT_TRUE(episodes.hangs());
}

TEST(Episodes, TellOnceThatAHangIsOverAndHowLongItLasted) {
  Episodes episodes(0.15);
  (void)episodes.take(kStopped, 5000);  // since 3000
  const auto news = episodes.take(kWell, 13000);
  ASSERT_EQ(news.size(), 1u);
  EXPECT_FALSE(news[0].begins);
  EXPECT_DOUBLE_EQ(news[0].lasted_s, 10);
  EXPECT_FALSE(episodes.hangs());
  EXPECT_TRUE(episodes.take(kWell, 18000).empty());
  EXPECT_EQ(episodes.take(kStopped, 20000).size(), 1u);
}

TEST(Episodes, TellOfASlowRankAfterAFewLooksWithOneCause) {
  Episodes episodes(0.15);
  const Verdict slow = verdict(Outcome::kSlow, Cause::kShared, 3);
  for (int look = 1; look < Episodes::kSlowObservations; ++look) {
    EXPECT_TRUE(episodes.take(slow, look).empty());
  }
  EXPECT_TRUE(episodes.take(verdict(Outcome::kSlow, Cause::kComputes, 3), 10).empty());
  for (int look = 1; look < Episodes::kSlowObservations; ++look) {
    EXPECT_TRUE(episodes.take(slow, 10 + look).empty());
  }
  EXPECT_EQ(episodes.take(slow, 20).size(), 1u);
  EXPECT_TRUE(episodes.slow());
  EXPECT_TRUE(episodes.take(slow, 21).empty());
  for (int look = 1; look < Episodes::kSlowObservations; ++look) {
    EXPECT_TRUE(episodes.take(kWell, 21 + look).empty());
  }
  EXPECT_EQ(episodes.take(kWell, 30).size(), 1u);
  EXPECT_FALSE(episodes.slow());
}

TEST(Episodes, DoNotTellOfARankThatCostsLittleOrOfTimeWithinCalls) {
  Episodes episodes(0.15);
  for (int look = 0; look < 2 * Episodes::kSlowObservations; ++look) {
    EXPECT_TRUE(episodes.take(verdict(Outcome::kSlow, Cause::kShared, 3, 0.14), look).empty());
    EXPECT_TRUE(episodes.take(verdict(Outcome::kSlow, Cause::kCalls, 3), look).empty());
  }
}

TEST(Episodes, EndWithTheJob) {
  Episodes episodes(0.15);
  EXPECT_TRUE(episodes.end(1000).empty());
  (void)episodes.take(kStopped, 5000);
  const auto news = episodes.end(6000);
  ASSERT_EQ(news.size(), 1u);
  EXPECT_FALSE(news[0].begins);
  EXPECT_DOUBLE_EQ(news[0].lasted_s, 3);
}

}  // namespace
}  // namespace tutti::tools
