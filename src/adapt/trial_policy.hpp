// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Which calls also time the algorithm of the other route (docs/design/choosing.md): long ones, if
// the cost model does not think that it is far slower. All arguments are the same on every rank,
// and so are the answers.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/tuned.hpp"

namespace tutti {

// Several turns of ranks that share cores. On one machine calls are faster without this bound
// (docs/notes/22); it is kept until a second one says so.
inline constexpr double kLeastTriedSeconds = 100e-6;
// The cost model is not that wrong.
inline constexpr double kWorthTrying = 8;
// Shorter receive buffers fit second-level caches, or a core's part of a third: no stores past
// them are tried.
inline constexpr uint64_t kLeastReceivedNonTemporal = 4 << 20;

struct TriedCall {
  uint64_t bytes;          // of a block
  uint64_t in_slot_bytes;  // the longest call that fits a slot
  double seconds;          // cost model's time with the chosen algorithm
  bool has_root;
  bool oversubscribed;
};

inline bool may_try_other_route(const TriedCall& call) {
  // Where ranks share cores, which of them happens to run counts for more than the route of a
  // shorter call.
  if (call.oversubscribed && call.seconds < kLeastTriedSeconds) return false;
  // Reads of peers do not pay for shorter calls.
  if (!call.has_root) return call.bytes >= tuned::kLeastTriedBytes;
  // Calls with a root that fit a slot run ahead of one another, which is worth more.
  const uint64_t beyond_slots = std::max(tuned::kLeastTriedBytes, call.in_slot_bytes + 1);
  return call.bytes >= std::min(beyond_slots, tuned::kLeastTriedOfRootsBytes);
}

// The most that the algorithm of the other route may take by the cost model.
inline double most_seconds_of_other_route(const TriedCall& call) {
  return kWorthTrying * call.seconds;
}

}  // namespace tutti
