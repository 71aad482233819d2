// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What algorithms made of messages share.
#pragma once

#include "algorithms/common.hpp"
#include "core/tuned.hpp"

namespace tutti {

// What one message of a segmented algorithm carries: long enough that its start costs little, short
// enough that it is still in the cache when it is combined.
inline constexpr uint64_t kSegmentBytes = tuned::kSegmentBytes;

// What networks carry at once: longer messages are asked for by their receiver first.
inline constexpr uint64_t kUnaskedBytes = 64 << 10;

// For algorithms that pass blocks on: private memory has room for all that pass by.
inline Applies blocks_are_short(const Problem& q) {
  if (q.bytes() > (64 << 10)) return {false, "blocks over 64 KiB"};
  return {};
}

// How many segments that are combined have a place to arrive in: the next ones come while one is
// worked on.
inline constexpr int kPlaces = tuned::kPlaces;

// Where
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
