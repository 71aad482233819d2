// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ring allgather: each rank passes on, in segments, what it got last. Any number of ranks.
// T = (p-1) (alpha + n beta), blocks of n: optimal in bandwidth, but latency grows with p.
#include "algorithms/cost.hpp"
#include "algorithms/messages.hpp"

namespace tutti {
namespace {

void build(const Problem& q, Builder& b) {
  for_each_segment({0, q.bytes()}, [&](Range segment) {
    b.send(rank_after(q, 1), send_at(segment.offset), segment.bytes);
  });
  copy_own_block(q, b);
  for (int step = 1; step < q.ranks; ++step) {
    for_each_segment({block_at(q, rank_after(q, -step)), q.bytes()}, [&](Range segment) {
      b.recv(rank_after(q, -1), recv_at(segment.offset), segment.bytes);
      if (step < q.ranks - 1) b.send(rank_after(q, 1), recv_at(segment.offset), segment.bytes);
    });
  }
}

}  // namespace

const Algorithm allgather_ring = {.name = "ring",
                                  .summary = "messages around a ring, segmented",
                                  .collective = Collective::kAllgather,
                                  .rank_order = true,
                                  .applies = always,
                                  .seconds = one_by_one_s,
                                  .build = build};

}  // namespace tutti
