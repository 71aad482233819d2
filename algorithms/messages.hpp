// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Common parts of algorithms that send messages: segments, and private memory for segments that
// arrive.
#pragma once

#include "algorithms/common.hpp"
#include "core/tuned.hpp"

namespace tutti {

// The longest message of a segmented algorithm. Its start costs little, and it is still in the
// cache when it is combined.
using tuned::kSegmentBytes;

// The longest message that networks carry at once (eager); the receiver asks for longer ones first
// (rendezvous).
inline constexpr uint64_t kUnaskedBytes = 64 << 10;

// For algorithms that pass the blocks of all ranks on through private memory.
inline Applies blocks_are_short(const Problem& q) {
  if (q.bytes() > (64 << 10)) return {false, "blocks over 64 KiB"};
  return {};
}

inline Applies blocks_fit_private_memory(const Problem& q) {
  if (all_blocks_bytes(q) > tuned::kMostPrivate) return {false, "over 8 MiB in all"};
  return {};
}

// How many segments that are to be combined may arrive at once: the next ones come while one is
// being combined.
using tuned::kPlaces;

// Private memory where segments arrive, of kPlaces places that are used in turn.
class Places {
 public:
  Places(Builder& b, uint64_t most)
      : bytes_(whole_lines(most)), first_(b.scratch(bytes_ * kPlaces)) {}
  Ref next() { return first_.plus(bytes_ * static_cast<uint64_t>(count_++ % kPlaces)); }

 private:
  const uint64_t bytes_;
  const Ref first_;
  int count_ = 0;
};

// Calls `visit(segment)` for each segment of the range, in order.
template <typename Visit>
void for_each_segment(Range range, Visit visit) {
  const int segments = parts_of_at_most(range.bytes, kSegmentBytes);
  for (int i = 0; i < segments; ++i) {
    const Range segment = part_of(range.bytes, segments, i);
    visit(Range{range.offset + segment.offset, segment.bytes});
  }
}

}  // namespace tutti
