// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ring allreduce (Patarasuk & Yuan, JPDC 2009): a reduce-scatter around the ring, then an allgather
// around it, in segments. Any number of ranks; adds in the order of the ring.
// T = 2(p-1) alpha + 2n(p-1)/p beta + n(p-1)/p gamma; n bytes, p ranks: optimal in bandwidth, but
// latency grows with p, so it suits large n.
#include "algorithms/cost.hpp"
#include "algorithms/messages.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const uint64_t block = q.bytes() / static_cast<uint64_t>(q.ranks);
  return 2 * (q.ranks - 1) * message_s(block, m) + combine_s(2 * all_but_own(q, q.bytes()), m) +
         buffers_s(q, m);
}

// After it this rank has the result of the block of the next rank.
void reduce_around(const Problem& q, Builder& b) {
  Places places(b, std::min(q.bytes(), kSegmentBytes));
  for_each_segment(part_of(q.bytes(), q.ranks, q.rank), [&](Range segment) {
    b.send(rank_after(q, 1), send_at(segment.offset), segment.bytes);
  });
  for (int step = 1; step < q.ranks; ++step) {
    const bool last = step == q.ranks - 1;
    for_each_segment(part_of(q.bytes(), q.ranks, rank_after(q, -step)), [&](Range segment) {
      const Ref sum = recv_at(segment.offset);
      const Ref arrived = places.next();
      b.recv(rank_after(q, -1), arrived, segment.bytes);
      b.reduce(sum, {arrived, send_at(segment.offset)}, segment.bytes, last);
      if (!last) b.send(rank_after(q, 1), sum, segment.bytes);
    });
  }
}

void gather_around(const Problem& q, Builder& b) {
  const auto send = [&](Range segment) {
    b.send(rank_after(q, 1), recv_at(segment.offset), segment.bytes);
  };
  for_each_segment(part_of(q.bytes(), q.ranks, rank_after(q, 1)), send);
  for (int step = 0; step < q.ranks - 1; ++step) {
    for_each_segment(part_of(q.bytes(), q.ranks, rank_after(q, -step)), [&](Range segment) {
      b.recv(rank_after(q, -1), recv_at(segment.offset), segment.bytes);
      if (step < q.ranks - 2) send(segment);
    });
  }
}

void build(const Problem& q, Builder& b) {
  reduce_around(q, b);
  b.fence();  // what was sent is about to be overwritten
  gather_around(q, b);
}

}  // namespace

const Algorithm allreduce_ring = {
    "ring", "messages around a ring, segmented", Collective::kAllreduce, false, always, seconds,
    build};

}  // namespace tutti
