// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ring reduce-scatter (Patarasuk & Yuan, JPDC 2009), in segments. The partial sum of a block
// travels once around the ring and ends at the block's owner. Any number of ranks; adds in the
// order of the ring. T = (p-1) alpha + (p-1)n beta + (p-1)n gamma, blocks of n: optimal in
// bandwidth, but latency grows with p.
#include "algorithms/cost.hpp"
#include "algorithms/messages.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const int segments = std::max(1, parts_of_at_most(q.bytes(), kSegmentBytes));
  return (q.ranks - 1) * (message_s(q.bytes(), m) + (segments - 1) * m.message_s +
                          combine_s(2 * q.bytes(), m)) +
         buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  const uint64_t most = std::min(q.bytes(), kSegmentBytes);
  Places places(b, most);
  // A place for every step's sum, so that no step waits for an earlier one's message.
  const Ref sums = b.scratch(whole_lines(most) * static_cast<uint64_t>(q.ranks - 2));
  for_each_segment({0, q.bytes()}, [&](Range segment) {
    b.fence();  // the sums of the segment before
    const auto share_of = [&](int block) { return send_at(block_at(q, block) + segment.offset); };
    Ref sum = share_of(rank_after(q, -1));
    for (int step = 1; step < q.ranks; ++step) {
      const bool last = step == q.ranks - 1;
      b.send(rank_after(q, 1), sum, segment.bytes);
      const Ref arrived = places.next();
      b.recv(rank_after(q, -1), arrived, segment.bytes);
      sum = last ? recv_at(segment.offset)
                 : sums.plus(whole_lines(most) * static_cast<uint64_t>(step - 1));
      b.reduce(sum, {arrived, share_of((q.rank - step - 1 + 2 * q.ranks) % q.ranks)}, segment.bytes,
               last);
    }
  });
}

}  // namespace

const Algorithm reduce_scatter_ring = {.name = "ring",
                                       .summary = "messages around a ring, segmented",
                                       .collective = Collective::kReduceScatter,
                                       .rank_order = false,
                                       .applies = always,
                                       .seconds = seconds,
                                       .build = build};

}  // namespace tutti
