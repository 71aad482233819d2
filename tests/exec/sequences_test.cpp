// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The model by which `tutti verify` proves calls that follow on one another: what a rank that runs
// ahead writes, no peer still needs (tools/sequences/model.hpp). It finds what is left out.
#include <gtest/gtest.h>

#include <array>
#include <string_view>
#include <tuple>

#include "algorithms/algorithm.hpp"
#include "support/processes.hpp"
#include "tools/sequences/proof.hpp"

namespace tutti {
namespace {

constexpr uint32_t kAllSeeds = 10;
constexpr uint32_t kSeeds = tutti_test::kSanitized ? 2 : kAllSeeds;
constexpr size_t kCalls = 150;

int faults_in(const ModelOptions& options, size_t few, uint32_t seeds = kSeeds) {
  const CallKinds kinds(options, algorithms());
  int faults = 0;
  for (uint32_t seed = 0; seed < seeds; ++seed) {
    const std::string fault = SequenceModel(options, kinds.draw(seed, kCalls, few)).run(seed);
    faults += fault.empty() ? 0 : 1;
    if (options.omission == Omission::kNothing) {
      EXPECT_EQ(fault, "") << "seed " << seed;
    }
  }
  return faults;
}

TEST(Sequences, AreOfManyKinds) {
  EXPECT_GT(CallKinds(tight_options(3), algorithms()).wanted(), 100U);
}

TEST(Sequences, NobodyWritesWhatAPeerStillNeeds) {
  for (const int ranks : {2, 3, 5}) {
    SCOPED_TRACE(ranks);
    EXPECT_EQ(faults_in(tight_options(ranks), 0), 0);
  }
}

TEST(Sequences, NorWhereCallsAreAlike) {
  for (const int ranks : {2, 4}) {
    for (const size_t few : {1U, 2U, 3U}) {
      SCOPED_TRACE(few);
      EXPECT_EQ(faults_in(tight_options(ranks), few), 0);
    }
  }
}

TEST(Sequences, NorWhereRanksShareCores) {
  EXPECT_EQ(faults_in(tight_options(3, true), 0), 0);
  EXPECT_EQ(faults_in(tight_options(3, true), 1), 0);
}

// Where every second call uses slots, all of these are in one copy of the slots: at one place there
// if it is the second, for then places do not move along. The root runs ahead.
TEST(Sequences, NorWhereEverySecondCallUsesSlots) {
  const ModelOptions options = tight_options(3);
  const auto plans_of = [&](std::string_view name, uint64_t count) {
    return shared_plans(*find_algorithm(Collective::kBroadcast, name), count, 0, options);
  };
  const std::array kinds = {plans_of("one_shot", 40), plans_of("inline", 2)};
  for (const size_t first : {0U, 1U}) {
    SequenceModel::Plans plans(3);
    for (size_t i = 0; i < kCalls; ++i) {
      for (size_t rank = 0; rank < plans.size(); ++rank) {
        plans[rank].push_back(kinds[(first + i) % 2].at(rank));
      }
    }
    for (uint32_t seed = 0; seed < kSeeds; ++seed) {
      EXPECT_EQ(SequenceModel(options, plans).run(seed), "") << first << ", seed " << seed;
    }
  }
}

// What is left out of the rules is found in most sequences of calls that need it.
class Omissions : public testing::TestWithParam<std::tuple<Omission, int>> {};

TEST_P(Omissions, AreFound) {
  const auto [omission, ranks] = GetParam();
  ModelOptions options = tight_options(ranks);
  options.omission = omission;
  EXPECT_GT(faults_in(options, 2, kAllSeeds), 0);
}

INSTANTIATE_TEST_SUITE_P(Of, Omissions,
                         testing::Values(std::tuple(Omission::kFlowControl, 3),
                                         std::tuple(Omission::kOneCall, 3),
                                         std::tuple(Omission::kSlotReuse, 3),
                                         std::tuple(Omission::kSwap, 2),
                                         std::tuple(Omission::kTicks, 3)));

}  // namespace
}  // namespace tutti
