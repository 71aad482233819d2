// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "comm/measured_machine.hpp"

#include <gtest/gtest.h>

#include "comm/tuning_file.hpp"
#include "select/limits.hpp"
#include "select/selector.hpp"
#include "select/tuning.hpp"
#include "transports/shm/pull.hpp"

namespace tutti {
namespace {

TEST(MeasuredMachine, IsThatOfTheDefaultsWhereNothingIsToBeMeasured) {
  Environment environment;
  environment.measure_machine = false;
  const Machine machine = measured_machine(environment);
  for (const MachineFigure& figure : machine_figures()) {
    EXPECT_EQ(machine.*figure.value, Machine().*figure.value) << figure.name;
  }
  EXPECT_EQ(machine.cache_bytes, Machine().cache_bytes);
}

// Whatever this machine is like, a tuning file can hold it, and what takes two processes stays.
TEST(MeasuredMachine, ChangesWhatAProcessCanMeasureAloneWithinReason) {
  const Machine machine = measured_machine(Environment());
  for (const MachineFigure& figure : machine_figures()) {
    const double factor = machine.*figure.value / (Machine().*figure.value);
    const bool own = figure.name.starts_with("pull") || figure.name == "copy_memory_s";
    if (own) {
      EXPECT_GE(factor, 1 / 8.01) << figure.name;
      EXPECT_LE(factor, 8.01) << figure.name;
    } else {
      EXPECT_EQ(factor, 1) << figure.name;
    }
  }
  if (const uint64_t bytes = this_machine().l2_bytes; bytes > 0) {
    EXPECT_EQ(machine.cache_bytes, bytes);
  }
}

TEST(MeasuredMachine, KnowsWhatPullsCostUnlessTheKernelForbidsThem) {
  const auto pulls = shm::measure_pulls();
  if (!pulls) GTEST_SKIP() << "this system lets no process read by process_vm_readv";
  EXPECT_GT(pulls->start_s, 0);
  EXPECT_LT(pulls->start_s, 1);
  EXPECT_GE(pulls->byte_s, 0);
}

// What it is for: where pulls start slowly, staging is worth its second copy for longer messages.
TEST(MeasuredMachine, DecidesFromWhichSizeOnPeersAreRead) {
  const auto first_pulled = [](const Machine& machine) -> uint64_t {
    const Selector selector = *Selector::create(Environment(), machine);
    Problem problem;
    problem.collective = Collective::kAllgather;
    problem.ranks = 2;
    problem.element_bytes = 4;
    problem.limits = limits_of(Environment(), 2, 2);
    for (uint64_t bytes = 64; bytes <= 1 << 20; bytes *= 2) {
      problem.count = problem.stride = bytes / 4;
      if (selector.choose(problem).algorithm->name == "pull") return bytes;
    }
    return UINT64_MAX;
  };
  Machine slow;
  slow.pull_s *= 3;
  slow.pull_cached_s *= 2;
  EXPECT_GT(first_pulled(slow), first_pulled(Machine()));
}

}  // namespace
}  // namespace tutti
