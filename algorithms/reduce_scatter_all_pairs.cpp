// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// All-pairs reduce-scatter: everyone sends every block to its owner, who reduces all in rank order,
// in segments. Any number of ranks. It gives the same bits as the algorithms of shared memory. T =
// (p-1) alpha + (p-1)n beta + pn gamma, blocks of n.
#include "algorithms/all_pairs.hpp"
#include "algorithms/cost.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const int segments = std::max(1, parts_of_at_most(q.bytes(), kSegmentBytes));
  return (q.ranks - 1) * message_s(q.bytes(), m) + (segments - 1) * (q.ranks - 1) * m.message_s +
         combine_s(all_blocks_bytes(q), m) + buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  const Ref arrived =
      b.scratch(std::min(q.bytes(), kSegmentBytes) * static_cast<uint64_t>(q.ranks));
  for_each_segment({0, q.bytes()}, [&](Range segment) {
    reduce_from_all(
        q, b, arrived, recv_at(segment.offset),
        [&](int rank) { return send_at(block_at(q, rank) + segment.offset); },
        [&](int) { return segment.bytes; });
  });
}

}  // namespace

const Algorithm reduce_scatter_all_pairs = {.name = "all_pairs",
                                            .summary = "messages to the owner of each block",
                                            .collective = Collective::kReduceScatter,
                                            .rank_order = true,
                                            .applies = always,
                                            .seconds = seconds,
                                            .build = build};

}  // namespace tutti
