// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What algorithms made of messages share.
#pragma once

#include "algorithms/common.hpp"

namespace tutti {

// What one message of a segmented algorithm carries: long enough that its start costs little, short
// enough that it is still in the cache when it is combined.
inline constexpr uint64_t kSegmentBytes = 128 << 10;

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
