// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "select/on_device.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

Problem problem_of(Collective collective, uint64_t bytes, int ranks) {
  Problem problem;
  problem.collective = collective;
  problem.ranks = ranks;
  problem.count = problem.stride = bytes / 4;
  problem.element_bytes = 4;
  return problem;
}

template <typename Body>
void for_collectives(const Body& body) {
  for (int c = 0; c < kCollectives; ++c) {
    const auto collective = static_cast<Collective>(c);
    if (collective != Collective::kBarrier) body(collective);
  }
}

TEST(OnDevice, EveryCollectiveHasAScheduleThatDevicesRun) {
  for_collectives([](Collective collective) {
    for (const int ranks : {2, 3, 8, 20}) {
      for (const uint64_t bytes : {uint64_t{4}, uint64_t{1} << 26}) {
        Problem problem = problem_of(collective, bytes, ranks);
        const Algorithm* const chosen = choose_on_device(problem);
        ASSERT_NE(chosen, nullptr) << collective_name(collective);
        for (problem.rank = 0; problem.rank < ranks; ++problem.rank) {
          for (problem.in_place = false;; problem.in_place = true) {
            const Schedule schedule = build_schedule(*chosen, on_device(problem));
            EXPECT_TRUE(runs_on_device(schedule).yes) << to_string(schedule);
            if (problem.in_place) break;
          }
          problem.in_place = false;
        }
      }
    }
  });
}

TEST(OnDevice, AllRanksChooseAlike) {
  for_collectives([](Collective collective) {
    for (uint64_t bytes = 4; bytes <= 1 << 24; bytes *= 8) {
      Problem problem = problem_of(collective, bytes, 4);
      const Algorithm* const chosen = choose_on_device(problem);
      for (problem.rank = 0; problem.rank < 4; ++problem.rank) {
        problem.in_place = problem.rank % 2 == 0;
        EXPECT_EQ(choose_on_device(problem), chosen);
      }
    }
  });
}

TEST(OnDevice, ShortReductionsAreOneKernelAndLongOnesAreDivided) {
  EXPECT_EQ(choose_on_device(problem_of(Collective::kAllreduce, 4096, 4))->name, "pull_all");
  EXPECT_EQ(choose_on_device(problem_of(Collective::kAllreduce, 64 << 20, 4))->name, "pull");
  const DeviceFigures fast{.launch_s = 0, .tick_s = 0, .copy_s = 0};
  EXPECT_EQ(choose_on_device(problem_of(Collective::kAllreduce, 16384, 4), fast)->name, "pull");
}

TEST(OnDevice, TheSlowestOfTheDevicesThatRunCallsCounts) {
  EXPECT_EQ(slowest_figures({}, Of::kAll), DeviceFigures());
  const std::vector<TunedDevice> devices = {
      {"level-zero", "a", "", true, {1e-6, 5e-6, 1e-11, 1e-11, 1e-10}},
      {"level-zero", "b", "", true, {2e-6, 4e-6, 2e-11, 1e-12, 1e-10}},
      {"opencl", "c", "", false, {9e-6, 9e-6, 9e-11, 9e-11, 9e-10}}};
  EXPECT_EQ(slowest_figures(devices, Of::kWithIpc),
            (DeviceFigures{2e-6, 5e-6, 2e-11, 1e-11, 1e-10}));
  EXPECT_EQ(slowest_figures(devices, Of::kAll), devices[2].figures);
  EXPECT_EQ(slowest_figures(std::span(devices).last(1), Of::kWithIpc), DeviceFigures());
}

TEST(OnDevice, MoreSourcesThanAKernelTakesCostMoreKernels) {
  const auto seconds = [](int ranks) {
    const Problem problem = on_device(problem_of(Collective::kReduce, 4, ranks));
    return device_seconds(build_schedule(*choose_on_device(problem), problem),
                          {.launch_s = 1, .tick_s = 0, .copy_s = 0, .reduce_s = 0});
  };
  EXPECT_EQ(seconds(8), 1);
  EXPECT_EQ(seconds(9), 2);
  EXPECT_EQ(seconds(15), 2);
  EXPECT_EQ(seconds(16), 3);
}

TEST(OnDevice, WhatPassesThroughTheHostIsNotForDevices) {
  Schedule schedule;
  Builder builder(schedule);
  builder.copy(Ref::of(Space::kSlot, 0, 0), Ref::of(Space::kSend, 0), 64);
  EXPECT_FALSE(runs_on_device(schedule).yes);
  schedule = {};
  builder.send(1, Ref::of(Space::kSend, 0), 64);
  EXPECT_FALSE(runs_on_device(schedule).yes);
}

TEST(OnDevice, ARankThatWouldWaitForAPeerBeforeItsOwnTickIsNotForDevices) {
  Schedule schedule;
  Builder builder(schedule);
  builder.publish(1);
  builder.await(1, 2);
  builder.publish(2);
  EXPECT_FALSE(runs_on_device(schedule).yes);
}

}  // namespace
}  // namespace tutti
