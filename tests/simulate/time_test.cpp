// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <vector>

#include "simulate/jobs.hpp"

namespace tutti_test {
namespace {

// What papers give for a network without contention, each rank on a host of its own.
void expect_seconds(const Question& question, double expected) {
  const Simulated simulated = simulate(question);
  ASSERT_TRUE(simulated.status.ok()) << simulated.status.message();
  EXPECT_NEAR(simulated.outcome.seconds, expected, expected * 1e-9)
      << question.algorithm << " on " << question.ranks << " ranks";
}

TEST(Simulate, RecursiveDoublingTakesItsClosedForm) {
  for (const int rounds : {1, 3, 6}) {
    const double n = 4096;
    expect_seconds(
        question(Collective::kAllreduce, 1 << rounds, 1 << rounds, 4096, "recursive_doubling"),
        rounds * (kAlpha + n * kBeta + 2 * n * kGamma));
  }
}

TEST(Simulate, ARingAllgatherTakesItsClosedForm) {
  for (const int ranks : {2, 5, 16}) {
    const double n = 1024;
    expect_seconds(question(Collective::kAllgather, ranks, ranks, 1024, "ring"),
                   (ranks - 1) * (kAlpha + n * kBeta));
  }
}

TEST(Simulate, ARingAllreduceTakesItsClosedForm) {
  const int ranks = 8;
  const double slice = 512;
  expect_seconds(question(Collective::kAllreduce, ranks, ranks, 8 * 512, "ring"),
                 2 * (ranks - 1) * (kAlpha + slice * kBeta) + (ranks - 1) * 2 * slice * kGamma);
}

TEST(Simulate, ADisseminationBarrierTakesARoundForEachPowerOfTwo) {
  for (const auto& [ranks, rounds] : {std::pair{2, 1}, {4, 2}, {7, 3}, {8, 3}, {64, 6}}) {
    expect_seconds(question(Collective::kBarrier, ranks, ranks, 0, "dissemination"),
                   rounds * (kAlpha + kBeta));  // of one byte each
  }
}

// A phase of three ranks has two messages each way. The second starts a quarter of alpha after the
// first, which is how long each keeps its sender.
TEST(Simulate, PhasesOfThreeRanksSaveTime) {
  const double phase = 1.25 * kAlpha + kBeta;
  for (const auto& [ranks, phases] : {std::pair{3, 1}, {9, 2}}) {
    expect_seconds(question(Collective::kBarrier, ranks, ranks, 0, "dissemination"),
                   phases * phase);
  }
  const double n = 8;
  expect_seconds(question(Collective::kAllreduce, 6, 6, 8, "recursive_doubling"),
                 2.25 * kAlpha + 2 * n * kBeta + 5 * n * kGamma);
}

TEST(Simulate, LongMessagesAreAskedForFirst) {
  const double n = 128 << 10;
  expect_seconds(question(Collective::kAllreduce, 2, 2, 128 << 10, "recursive_doubling"),
                 3 * kAlpha + n * kBeta + 2 * n * kGamma);
}

TEST(Simulate, MessagesTakeTheTimesThatWereMeasured) {
  const auto times = parse_message_times({"8=20", "1kb=24", "16kb=60", "1mb=1100", "2mb=2200"});
  ASSERT_TRUE(times.ok()) << times.status().message();
  const auto seconds = [&](uint64_t bytes) {
    const Question asked = question(Collective::kAllreduce, 8, 8, bytes, "recursive_doubling");
    const double reducing = 3 * 2 * static_cast<double>(bytes) * kGamma;
    return simulate(asked, {.times = *times}).outcome.seconds - reducing;
  };
  EXPECT_NEAR(seconds(8), 3 * (20e-6 + 8 * kBeta), 1e-12) << "alpha, and the line as fast as it is";
  EXPECT_NEAR(seconds(1 << 10), 3 * 24e-6, 1e-12);
  EXPECT_NEAR(seconds(17 << 9), 3 * 42e-6, 1e-12) << "half way from 1 to 16 KB";
  EXPECT_NEAR(seconds(1 << 20), 3 * 1100e-6, 1e-12) << "with what it is asked for";
  EXPECT_NEAR(times->byte_s(), 1100e-6 / (1 << 20), 1e-18);
}

TEST(Simulate, WhatAMessageWaitsForBeforeItLeavesKeepsNobodyBusy) {
  // To three others at once: messages leave after one another, and their waits overlap.
  const auto times = parse_message_times({"8=20", "4kb=120", "1mb=1100"});
  ASSERT_TRUE(times.ok());
  const Question asked = question(Collective::kAllgatherv, 4, 4, 4096, "pairwise");
  const double waiting = 120e-6 - kAlpha - 4096 * kBeta;
  const double usual = simulate(asked).outcome.seconds;
  EXPECT_NEAR(simulate(asked, {.times = *times}).outcome.seconds, usual + waiting, 1e-12);
}

TEST(Simulate, TimesThatMakeNoSenseAreRefused) {
  const auto error = [](const std::vector<std::string>& texts) {
    return std::string(parse_message_times(texts).status().message());
  };
  EXPECT_EQ(error({"8=1"}), "1 size: expected two or more, the shortest first");
  EXPECT_EQ(error({"8=1", "4=2"}), "'4=2': expected a size above the 8 before it");
  EXPECT_EQ(error({"8=2", "16=1"}),
            "'16=1': expected more time than '8=2', for the rate of the line");
  for (const char* wrong : {"8", "=1", "8=", "8=0", "8=-1", "8=x", "8=1x", "8xb=1", "-8=1",
                            "8kkb=1", "9999999999gb=1", "8=nan", "8=inf"}) {
    EXPECT_NE(error({wrong, "1mb=9"}).find("expected a size and microseconds"), std::string::npos)
        << wrong;
  }
}

TEST(Simulate, RanksOfAHostShareItsLine) {
  // All four ranks of a host exchange with those of the other at once, in the last of three rounds.
  const double n = 32 << 10;
  const Simulated simulated =
      simulate(question(Collective::kAllreduce, 8, 2, 32 << 10, "recursive_doubling"));
  ASSERT_TRUE(simulated.status.ok()) << simulated.status.message();
  EXPECT_NEAR(simulated.outcome.seconds, kAlpha + 4 * n * kBeta + 3 * 2 * n * kGamma, 1e-9);
}

TEST(Simulate, SlowerLinksBetweenSwitchesSetTheTime) {
  const Question asked = question(Collective::kAlltoall, 32, 32, 16384, "pairwise");
  const Simulated simulated = simulate(asked, {}, "fat-tree:8");
  ASSERT_TRUE(simulated.status.ok());
  const auto job = make_job(asked);
  ASSERT_TRUE(job.ok());
  auto network = make_network("fat-tree:8", 32, links_of(asked.network, 0, 4));
  ASSERT_TRUE(network.ok());
  ASSERT_TRUE(network->complete().ok());
  const auto slower = run(**job, *network, asked.network, {});
  ASSERT_TRUE(slower.ok());
  EXPECT_GT(slower->seconds, 2 * simulated.outcome.seconds);
}

TEST(Simulate, ALineLetsItsBurstPassAtOnceAndThenSlowsDown) {
  const double n = 32 << 10;
  const Question asked = question(Collective::kAllreduce, 2, 2, 32 << 10, "recursive_doubling");
  const auto seconds = [&](uint64_t burst, int calls) {
    return simulate(asked, {.calls = calls}, "single-switch", {}, burst).outcome.seconds;
  };
  EXPECT_NEAR(seconds(64 << 10, 1), kAlpha + 2 * n * kGamma, 1e-12);
  EXPECT_NEAR(seconds(8 << 10, 1), kAlpha + (n - 8192) * kBeta + 2 * n * kGamma, 1e-12);
  EXPECT_NEAR(seconds(64 << 10, 1000), n * kBeta, 0.01 * n * kBeta) << "as fast as its rate";
}

TEST(Simulate, RanksOfOneMachineTakeTurnsOnItsCores) {
  const Question asked = question(Collective::kAllreduce, 2, 2, 8, "recursive_doubling");
  const double work = kAlpha + 2 * 8 * kGamma;  // of each rank
  const auto seconds = [&](OneMachine machine) {
    if (machine.message_s == 0) machine.message_s = kAlpha;
    return simulate(asked, {.machine = machine}).outcome.seconds;
  };
  EXPECT_NEAR(seconds({.cores = 1}), 2 * work, 1e-12);
  EXPECT_NEAR(seconds({.cores = 2}), work + 8 * kBeta, 1e-12);
  EXPECT_NEAR(seconds({.cores = 2, .message_s = kAlpha / 4}), work + 8 * kBeta, 1e-12);
  EXPECT_NEAR(seconds({.cores = 1, .byte_s = 1e-9}), 2 * work + 4 * 8 * 1e-9, 1e-12);
  EXPECT_NEAR(seconds({.cores = 1, .turn_s = 5e-6}), 2 * work + 5e-6, 1e-12) << "one of them waits";
  EXPECT_NEAR(seconds({.cores = 2, .turn_s = 5e-6}), work + 8 * kBeta, 1e-12);
}

TEST(Simulate, CallsOneAfterTheOtherTakeAsLongEach) {
  const Question asked = question(Collective::kAllreduce, 8, 8, 64, "recursive_doubling");
  const double once = simulate(asked).outcome.seconds;
  EXPECT_NEAR(simulate(asked, {.calls = 10}).outcome.seconds, once, once * 1e-9);
}

TEST(Simulate, SaysHowFarItIsWhileItRuns) {
  std::vector<double> parts;
  const Question asked = question(Collective::kAlltoall, 128, 128, 64, "pairwise");
  const Simulated simulated =
      simulate(asked, {.calls = 4, .watch = [&parts](double part) { parts.push_back(part); }});
  ASSERT_TRUE(simulated.status.ok()) << simulated.status.message();
  ASSERT_FALSE(parts.empty());
  EXPECT_TRUE(std::ranges::is_sorted(parts));
  EXPECT_GE(parts.front(), 0);
  EXPECT_LE(parts.back(), 1);
}

TEST(Simulate, TheSameJobGivesTheSameOutcome) {
  const Question asked = question(Collective::kAllreduce, 24, 6, 1 << 20);
  const Circumstances skewed{.skew_s = 1e-4, .seed = 7};
  const Simulated one = simulate(asked, skewed, "dragonfly");
  const Simulated other = simulate(asked, skewed, "dragonfly");
  ASSERT_TRUE(one.status.ok()) << one.status.message();
  EXPECT_EQ(one.outcome.seconds, other.outcome.seconds);
  EXPECT_EQ(one.outcome.events, other.outcome.events);
  const Simulated third = simulate(asked, {.skew_s = 1e-4, .seed = 8}, "dragonfly");
  EXPECT_NE(one.outcome.seconds, third.outcome.seconds);
}

}  // namespace
}  // namespace tutti_test
