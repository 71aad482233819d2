// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/frames/rail_losses.hpp"

#include "core/wait.hpp"

namespace tutti::frames {
namespace {

// The time within which the monitor names a peer that has died, in better words.
constexpr int64_t kWordOfDeathMs = 1000;
// The time for the other connections to break, and for what came before to be read.
constexpr int64_t kOthersMs = 5;
// The age of a loss at which the user is warned. If the peer has died or left, all of its rails
// have broken by then, and a word about one of them would mislead.
constexpr int64_t kWarnMs = 30;

}  // namespace

bool RailLosses::lose(int rank, uint32_t rail, const Status& why) {
  if (lost(rank, rail)) return false;
  lost_[static_cast<size_t>(rank)] |= uint64_t{1} << rail;
  breaks_.push_back({rank, rail, now_ms(), why});
  return true;
}

void RailLosses::note_break(int rank, uint32_t rail, const Status& why) {
  // Otherwise this end cut it.
  if (!lost(rank, rail)) breaks_.push_back({rank, rail, now_ms(), why});
}

// Whether the peer has died, or left.
bool RailLosses::none_left(int rank, std::span<const Break> all) const {
  if (!mends_) return true;
  uint64_t broken = bits(rank);
  for (const Break& one : all) {
    if (one.rank == rank) broken |= uint64_t{1} << one.rail;
  }
  return static_cast<uint32_t>(std::popcount(broken)) == rails_;
}

RailLosses::Due RailLosses::due(const Break& one, std::span<const Break> all, int64_t now) const {
  const int64_t age = now - one.since_ms;
  if (none_left(one.rank, all)) return age >= kWordOfDeathMs ? Due::kLosePeer : Due::kNothing;
  if (lost(one.rank, one.rail)) return age >= kWarnMs ? Due::kWarn : Due::kNothing;
  return age >= kOthersMs ? Due::kLoseRail : Due::kNothing;
}

}  // namespace tutti::frames
