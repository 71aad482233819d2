// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The proof of calls that follow on one another: what a rank that runs ahead writes, no peer still
// needs, though slots and lines are used again. It runs the lane that programs run (model.hpp), and
// finds what is left out of it.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <tuple>

#include "algorithms/algorithm.hpp"
#include "proof/call_kinds.hpp"
#include "support/processes.hpp"

namespace tutti {
namespace {

constexpr uint32_t kAllSeeds = 10;
constexpr uint32_t kSeeds = tutti_test::kSanitized ? 2 : kAllSeeds;
constexpr size_t kCalls = 150;

TEST(Sequences, AreOfManyKinds) { EXPECT_GT(CallKinds(tight_options(3)).size(), 200U); }

class OfAllKinds : public testing::TestWithParam<std::tuple<int, bool>> {};

// Calls of all kinds; then of one to three kinds, after which places in the slots come back soon.
TEST_P(OfAllKinds, NobodyWritesWhatAPeerStillNeeds) {
  const auto [ranks, oversubscribed] = GetParam();
  const ModelOptions options = tight_options(ranks, oversubscribed);
  const CallKinds kinds(options);
  for (const size_t few : {0U, 1U, 2U, 3U}) {
    for (uint32_t seed = 0; seed < kSeeds; ++seed) {
      EXPECT_EQ(SequenceModel(options, kinds.draw(seed, kCalls, few)).run(seed), "")
          << few << " kinds, seed " << seed;
    }
  }
}

std::string name_of(const testing::TestParamInfo<std::tuple<int, bool>>& test) {
  const auto [ranks, oversubscribed] = test.param;
  return std::to_string(ranks) + "_ranks" + (oversubscribed ? "_that_share_cores" : "");
}
INSTANTIATE_TEST_SUITE_P(Sequences, OfAllKinds,
                         testing::Combine(testing::Values(2, 3, 4, 5), testing::Bool()), name_of);

// Where every second call uses slots, all of these are in one copy of the slots: at one place there
// if it is the second, for then places do not move along. The root runs ahead.
TEST(Sequences, NorWhereEverySecondCallUsesSlots) {
  const ModelOptions options = tight_options(3);
  const auto calls_of = [&](std::string_view name, uint64_t count) {
    return shared_calls(*find_algorithm(Collective::kBroadcast, name), count, 0, false, options);
  };
  const std::array kinds = {calls_of("one_shot", 40), calls_of("inline", 2)};
  for (const size_t first : {0U, 1U}) {
    SequenceModel::Calls calls(3);
    for (size_t i = 0; i < kCalls; ++i) {
      for (size_t rank = 0; rank < calls.size(); ++rank) {
        calls[rank].push_back(kinds[(first + i) % 2].at(rank));
      }
    }
    for (uint32_t seed = 0; seed < kSeeds; ++seed) {
      EXPECT_EQ(SequenceModel(options, calls).run(seed), "") << first << ", seed " << seed;
    }
  }
}

// What is left out of the rules is found in some of a few sequences of calls.
class Omissions : public testing::TestWithParam<std::tuple<Omission, int>> {};

TEST_P(Omissions, AreFound) {
  const auto [omission, ranks] = GetParam();
  ModelOptions options = tight_options(ranks);
  options.omission = omission;
  const CallKinds kinds(options);
  int found = 0;
  for (uint32_t seed = 0; seed < kAllSeeds; ++seed) {
    found += SequenceModel(options, kinds.draw(seed, kCalls, 2)).run(seed).empty() ? 0 : 1;
  }
  EXPECT_GT(found, 0);
}

INSTANTIATE_TEST_SUITE_P(Of, Omissions,
                         testing::Values(std::tuple(Omission::kFlowControl, 3),
                                         std::tuple(Omission::kOneCall, 3),
                                         std::tuple(Omission::kSlotReuse, 3),
                                         std::tuple(Omission::kSwap, 2),
                                         std::tuple(Omission::kTicks, 3)));

}  // namespace
}  // namespace tutti
