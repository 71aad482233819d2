// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/sequences/proof.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace tutti {
namespace {

constexpr size_t kCalls = 150;
constexpr uint32_t kSeeds = 10;
// Calls of all kinds; then of one to three kinds, after which places in the slots come back soon.
constexpr size_t kFew[] = {0, 1, 2, 3};

}  // namespace

ModelOptions tight_options(int ranks, bool oversubscribed) {
  return {.ranks = ranks,
          .oversubscribed = oversubscribed,
          .limits = {.slots = {.call_bytes = 16 << 10},
                     .window_bytes = 8 << 10,
                     .chunk_bytes = 2 << 10,
                     .pulls = true}};
}

CallKinds::CallKinds(const ModelOptions& options, std::span<const Algorithm* const> wanted)
    : ranks_(static_cast<size_t>(options.ranks)) {
  const auto add = [&](const Algorithm& algorithm) {
    for (const uint64_t count : {2U, 40U, 500U, 1500U, 3000U}) {
      for (int root = 0; root < options.ranks; ++root) {
        Kind plans = shared_plans(algorithm, count, root, options);
        if (!plans.empty()) kinds_.push_back(std::move(plans));
        if (!has_root(algorithm.collective)) break;
      }
    }
  };
  for (const Algorithm* algorithm : wanted) add(*algorithm);
  wanted_ = kinds_.size();
  for (const Algorithm* algorithm : algorithms()) {
    if (std::ranges::find(wanted, algorithm) == wanted.end()) add(*algorithm);
  }
}

SequenceModel::Plans CallKinds::draw(uint32_t seed, size_t calls, size_t few) const {
  std::mt19937 random(seed);
  const bool in_turn = seed % 2 != 0;
  const auto any = [&](size_t i) { return random() % (i % 2 == 0 ? wanted_ : kinds_.size()); };
  std::vector<size_t> drawn(few);
  for (size_t i = 0; i < few; ++i) drawn[i] = any(i);
  SequenceModel::Plans plans(ranks_);
  for (size_t i = 0; i < calls; ++i) {
    const size_t kind = few == 0 ? any(i) : drawn[in_turn ? i % few : random() % few];
    for (size_t rank = 0; rank < ranks_; ++rank) plans[rank].push_back(kinds_[kind][rank]);
  }
  return plans;
}

void prove_sequences(std::span<const Algorithm* const> wanted, int ranks, SequenceTally& tally) {
  for (const bool oversubscribed : {false, true}) {
    const ModelOptions options = tight_options(ranks, oversubscribed);
    const CallKinds kinds(options, wanted);
    if (kinds.wanted() == 0) return;
    for (const size_t few : kFew) {
      for (uint32_t seed = 0; seed < kSeeds; ++seed) {
        const std::string fault = SequenceModel(options, kinds.draw(seed, kCalls, few)).run(seed);
        ++tally.sequences;
        tally.calls += kCalls;
        if (fault.empty()) continue;
        tally.failure = fmt::format(
            "{} ranks{}, {}, seed {}: {}", ranks, oversubscribed ? ", oversubscribed" : "",
            few == 0 ? "all kinds of calls" : fmt::format("{} kinds of calls", few), seed, fault);
        return;
      }
    }
  }
}

}  // namespace tutti
