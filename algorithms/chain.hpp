// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Messages along a chain of ranks, in segments: b of them of n/b bytes over p-1 hops take (b + p-2)
// (alpha + n/b beta). Open MPI calls it "pipeline" and "chain" (Pjesivac-Grbovic et al.,
// "Performance analysis of MPI collective operations", Cluster Computing 2007). No line carries a
// byte more than once, so calls that follow one another take but b alpha + n beta each.
#pragma once

#include <cmath>

#include "algorithms/cost.hpp"
#include "algorithms/messages.hpp"
#include "core/tuned.hpp"

namespace tutti {

// About sqrt((p-2) n beta / alpha) segments take the least time. A start is taken to cost as much
// as 8 KiB: so all ranks come to the same number, whatever they know of the network.
inline int chain_segments(const Problem& q) {
  const double hops = std::max(q.ranks - 2, 0);
  const double best = std::sqrt(hops * static_cast<double>(q.bytes()) / tuned::kSegmentStartBytes);
  return std::max({1, static_cast<int>(best), parts_of_at_most(q.bytes(), kSegmentBytes)});
}

inline Applies can_be_cut(const Problem& q) {
  if (chain_segments(q) == 1) return {false, "too short to be cut into segments"};
  return {};
}

// The time over one hop and `more` hops: between that of a call by itself and of one of many in a
// row.
inline double chain_s(const Problem& q, double more, uint64_t combined, const Machine& m) {
  const int segments = chain_segments(q);
  const auto parts = static_cast<uint64_t>(segments);
  const uint64_t bytes = q.bytes() / parts;
  return messages_s(segments, bytes, m) + more * 3 / 4 * message_s(bytes, m) +
         (segments + more) * combine_s(combined / parts, m) + buffers_s(q, m);
}

}  // namespace tutti
