// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "adapt/call_trials.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

namespace tutti {
namespace {

constexpr uint64_t kBytes = 1 << 20;
constexpr int kCoordinator = 1;

// Two ranks of a lane whose calls take as long as their arm says, by a clock of their own.
class Trials : public testing::Test {
 protected:
  struct Took {
    double arm_s;
    double first_wait_s = 0;
    bool goes_over = false;
  };

  // Makes a call on both ranks; returns which arm it took.
  size_t call(const std::array<Took, 2>& took) {
    now_s_ += 1;
    const size_t arm = coordinator_.start(arms_, kBytes, now_s_);
    EXPECT_EQ(other_.start(arms_, kBytes, 0), arm);
    coordinator_.announce(told_.data());
    const Took& its = took.at(arm);
    if (its.goes_over) coordinator_.forget_time();
    coordinator_.note_wait(true, now_s_);
    coordinator_.note_wait(true, now_s_ + its.first_wait_s);
    now_s_ += its.first_wait_s + its.arm_s;
    coordinator_.finish(arms_, ended(now_s_), told_.data());
    other_.finish(arms_, ended(0), told_.data());
    return arm;
  }
  // How many of so many calls take the second arm.
  size_t second_of(int calls, const std::array<Took, 2>& took) {
    size_t second = 0;
    for (int i = 0; i < calls; ++i) second += call(took);
    return second;
  }
  [[nodiscard]] CallTrials::Ended ended(double at_s) const {
    return {.collective = Collective::kAllreduce,
            .block_bytes = kBytes,
            .ranks = 2,
            .reads_peers = false,
            .slots_are_new = false,
            .at_s = at_s};
  }

  const Arms arms_{.names = {"staged", "pull"}, .key = 7, .coordinator = kCoordinator};
  CallTrials coordinator_{kCoordinator};
  CallTrials other_{0};
  std::array<std::byte, sizeof(Arm)> told_{};
  double now_s_ = 1;
};

TEST_F(Trials, CallsGoOnByTheFasterArmOnAllRanks) {
  second_of(30, {Took{2e-3}, Took{1e-3}});
  EXPECT_GT(second_of(100, {Took{2e-3}, Took{1e-3}}), 90U);
}

TEST_F(Trials, CallsKeepTheFirstArmIfItIsFaster) {
  second_of(30, {Took{1e-3}, Took{2e-3}});
  EXPECT_LT(second_of(100, {Took{1e-3}, Took{2e-3}}), 20U);
}

TEST_F(Trials, BothArmsAreTriedAtFirst) {
  const size_t second = second_of(12, {Took{1e-3}, Took{1e-3}});
  EXPECT_GE(second, 3U);
  EXPECT_LE(second, 9U);
}

TEST_F(Trials, TheWaitForALatePeerDoesNotCount) {
  const std::array<Took, 2> took = {Took{2e-3}, Took{.arm_s = 1e-3, .first_wait_s = 0.5}};
  second_of(30, took);
  EXPECT_GT(second_of(100, took), 90U);
}

TEST_F(Trials, CallsThatGoOverToAnotherScheduleTellNothing) {
  const std::array<Took, 2> took = {Took{.arm_s = 2e-3, .goes_over = true},
                                    Took{.arm_s = 1e-3, .goes_over = true}};
  EXPECT_EQ(second_of(50, took), 0U);
}

TEST_F(Trials, WhatNoCoordinatorWritesIsTheFirstArm) {
  for (const unsigned nonsense : {2U, 3U, 200U, 255U}) {
    (void)other_.start(arms_, kBytes, 0);
    const std::array told = {std::byte{static_cast<uint8_t>(nonsense)}};
    other_.finish(arms_, ended(0), told.data());
    EXPECT_EQ(other_.start(arms_, kBytes, 0), 0U) << nonsense;
    other_.abandon();
  }
}

TEST_F(Trials, KindsOfCallsOfOneKeyShareWhatIsKnown) {
  second_of(30, {Took{2e-3}, Took{1e-3}});
  const Arms alike{.names = {"staged", "pull"}, .key = 7, .coordinator = kCoordinator};
  EXPECT_EQ(coordinator_.start(alike, kBytes, now_s_), 1U);
  coordinator_.abandon();
  const Arms others{.names = {"staged", "pull"}, .key = 8, .coordinator = kCoordinator};
  EXPECT_EQ(coordinator_.start(others, kBytes, now_s_), 0U);
}

}  // namespace
}  // namespace tutti
