// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Whether two places of a schedule share memory.
#pragma once

#include "sched/schedule.hpp"

namespace tutti {

inline bool is_callers(const Ref& ref) {
  return ref.space() == Space::kSend || ref.space() == Space::kRecv;
}

struct PlacedBytes {
  Ref ref;
  uint64_t bytes;
};

// Whether the two overlap. If the caller's buffers coincide, all of one counts as overlapping with
// all of the other, because how they coincide depends on the rank.
[[nodiscard]] inline bool overlap(const PlacedBytes& a, const PlacedBytes& b, bool in_place) {
  if (a.bytes == 0 || b.bytes == 0) return false;
  if (a.ref.base != b.ref.base) return in_place && is_callers(a.ref) && is_callers(b.ref);
  return a.ref.offset < b.ref.offset + b.bytes && b.ref.offset < a.ref.offset + a.bytes;
}

}  // namespace tutti
