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
inline constexpr uint64_t kUnaskedBytes = tuned::kEagerFramesBytes;

// The longest block of algorithms that pass the blocks of all ranks on through private memory.
inline constexpr uint64_t kShortBlockBytes = 64 << 10;

inline Applies blocks_are_short(const Problem& q) {
  if (q.bytes() > kShortBlockBytes) return {false, "blocks over 64 KiB"};
  return {};
}

// What a call may take of private memory for that.
inline constexpr uint64_t kMostPrivate = 8 << 20;

inline Applies blocks_fit_private_memory(const Problem& q) {
  if (all_blocks_bytes(q) > kMostPrivate) return {false, "over 8 MiB in all"};
  return {};
}

// How many segments that are to be combined may arrive at once: the next ones come while one is
// being combined. A few bridge what their times vary.
inline constexpr int kSegmentPlaces = 4;

// Private memory where segments arrive, of kSegmentPlaces places that are used in turn.
class Places {
 public:
  Places(Builder& b, uint64_t most)
      : bytes_(whole_lines(most)), first_(b.scratch(bytes_ * kSegmentPlaces)) {}
  Ref next() { return first_.plus(bytes_ * static_cast<uint64_t>(count_++ % kSegmentPlaces)); }

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
