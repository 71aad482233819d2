// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// `tutti verify` proves the schedule of one call. These tests are about calls that follow on one
// another: what a rank that runs ahead writes, no peer still needs. See sequence_model.hpp.
#include <gtest/gtest.h>

#include <random>

#include "algorithms/algorithm.hpp"
#include "sequence_model.hpp"
#include "support/processes.hpp"

namespace tutti {
namespace {

constexpr int kSeeds = tutti_test::kSanitized ? 2 : 12;
constexpr size_t kCalls = 150;

ModelOptions options_of(int ranks, bool oversubscribed = false) {
  return {.ranks = ranks,
          .oversubscribed = oversubscribed,
          .limits = {
              .slots = {.call_bytes = 16 << 10}, .window_bytes = 8 << 10, .chunk_bytes = 2 << 10}};
}

// Calls by algorithms of shared memory, of sizes that lie in all classes of the allocator.
class Sequences {
 public:
  explicit Sequences(const ModelOptions& options) : options_(options) {
    for (const Algorithm* algorithm : algorithms()) {
      for (const uint64_t count : {2U, 40U, 500U, 1500U, 3000U}) {
        for (int root = 0; root < options.ranks; ++root) {
          auto plans = shared_plans(*algorithm, count, root, options);
          if (!plans.empty()) kinds_.push_back(std::move(plans));
          if (!has_root(algorithm->collective)) break;
        }
      }
    }
  }
  // Of all kinds in any order, or of `few` kinds only.
  [[nodiscard]] SequenceModel::Plans any(uint32_t seed, size_t few) const {
    std::mt19937 random(seed);
    std::vector<size_t> of(few);
    for (size_t& kind : of) kind = random() % kinds_.size();
    SequenceModel::Plans plans(static_cast<size_t>(options_.ranks));
    for (size_t i = 0; i < kCalls; ++i) {
      const auto& kind = kinds_[few > 0 ? of[random() % few] : random() % kinds_.size()];
      for (size_t rank = 0; rank < plans.size(); ++rank) plans[rank].push_back(kind[rank]);
    }
    return plans;
  }
  [[nodiscard]] size_t size() const { return kinds_.size(); }

 private:
  const ModelOptions options_;
  std::vector<std::vector<std::shared_ptr<const Plan>>> kinds_;
};

int faults_in(const ModelOptions& options, size_t few) {
  const Sequences sequences(options);
  int faults = 0;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    const std::string fault = SequenceModel(options, sequences.any(seed, few)).run(seed);
    faults += fault.empty() ? 0 : 1;
    if (options.omission == Omission::kNothing) {
      EXPECT_EQ(fault, "") << "seed " << seed;
    }
  }
  return faults;
}

TEST(Sequences, AreOfManyKinds) { EXPECT_GT(Sequences(options_of(3)).size(), 100U); }

TEST(Sequences, NobodyWritesWhatAPeerStillNeeds) {
  for (const int ranks : {2, 3, 5}) {
    SCOPED_TRACE(ranks);
    EXPECT_EQ(faults_in(options_of(ranks), 0), 0);
  }
}

TEST(Sequences, NorWhereCallsAreAlike) {
  for (const int ranks : {2, 4}) {
    for (const size_t few : {1U, 2U, 3U}) {
      SCOPED_TRACE(few);
      EXPECT_EQ(faults_in(options_of(ranks), few), 0);
    }
  }
}

TEST(Sequences, NorWhereRanksShareCores) {
  EXPECT_EQ(faults_in(options_of(3, true), 0), 0);
  EXPECT_EQ(faults_in(options_of(3, true), 1), 0);
}

TEST(Sequences, CallsThatBeginAtOnceAreFound) {
  ModelOptions options = options_of(3);
  options.omission = Omission::kFlowControl;
  EXPECT_GT(faults_in(options, 2), 0);
}

TEST(Sequences, SlotsThatAreStillReadAreFound) {
  ModelOptions options = options_of(3);
  options.omission = Omission::kSlotReuse;
  EXPECT_GT(faults_in(options, 2), 0);
}

}  // namespace
}  // namespace tutti
