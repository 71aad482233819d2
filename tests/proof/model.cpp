// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "proof/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>

namespace tutti {
namespace {

LaneMemorySizes sizes_of(const Limits& limits) {
  return {.slots = {.slot_bytes = limits.slots.call_bytes}, .window_bytes = limits.window_bytes};
}

}  // namespace

SequenceModel::SequenceModel(const ModelOptions& options, Calls calls)
    : calls_(std::move(calls)), witness_(options.ranks, sizes_of(options.limits)) {
  for (int rank = 0; rank < options.ranks; ++rank) {
    LaneSettings settings;
    settings.rank = rank;
    settings.ranks = options.ranks;
    settings.oversubscribed = options.oversubscribed;
    settings.store_target = StoreTarget::kCache;
    auto memory = std::make_unique<WatchedLaneMemory>(witness_, rank, sizes_of(options.limits));
    ranks_.emplace_back().lane = std::make_unique<WatchedLane>(
        settings, transport_, std::move(memory), std::make_unique<NoMessages>(),
        WatchedComponents{witness_, rank, options.omission});
  }
}

std::string SequenceModel::run(uint32_t seed) {
  std::mt19937 random(seed);
  size_t idle = 0;
  const auto all_through = [&] {
    return std::ranges::all_of(ranks_, [&](const Rank& rank) { return is_through(rank); });
  };
  while (witness_.fault().empty() && !all_through()) {
    const auto number = static_cast<int>(random() % ranks_.size());
    // Some steps in a row, now few, now many: so that ranks run ahead.
    const uint32_t most = 1U << random() % 10;
    bool moved = false;
    for (uint32_t i = 0; i < most && witness_.fault().empty() && advance(number); ++i) moved = true;
    idle = moved ? 0 : idle + 1;
    if (idle > 1000 * ranks_.size()) witness_.complain(number, "waits for ever");
  }
  if (witness_.fault().empty()) return {};
  const size_t call = ranks_[static_cast<size_t>(witness_.faulty_rank())].ended;
  return fmt::format("{} ({})", witness_.fault(), calls_[0].at(call).plan->algorithm->name);
}

// Starts the next call, or makes a step of it; returns whether that could be done.
bool SequenceModel::advance(int number) {
  Rank& rank = ranks_[static_cast<size_t>(number)];
  if (is_through(rank)) return false;
  if (!rank.runs) {
    const ModelCall& next = calls_[static_cast<size_t>(number)][rank.ended];
    rank.lane->start(*next.plan, *next.plan->scheduled(), next.call,
                     next.plan->record_of(rank.ended + 1), 0);
    rank.runs = true;
    return true;
  }
  const size_t step = rank.lane->next_step();
  const Advance outcome = rank.lane->advance(step + 1);
  if (outcome == Advance::kFailed) {
    witness_.complain(number, fmt::format("fails: {}", rank.lane->status().message()));
    return false;
  }
  if (outcome == Advance::kBlocked) return rank.lane->next_step() != step;
  rank.runs = false;
  ++rank.ended;
  return true;
}

}  // namespace tutti
