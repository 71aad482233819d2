// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Circulant allreduce (Traeff, arXiv 2410.14234): reduce-scatter and allgather over the circulant
// graph. Any number of ranks; the operation must commute. T = 2 ceil(log2 p) alpha + 2n(p-1)/p beta
// + n(p-1)/p gamma. It is optimal in bandwidth and in rounds, so it suits middle sizes; it is not
// segmented.
#include "algorithms/circulant.hpp"
#include "algorithms/cost.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const uint64_t moved = all_but_own(q, q.bytes());
  const uint64_t block = q.bytes() / static_cast<uint64_t>(q.ranks);
  return 2 * (circulant_starts_s(q, block, m) + static_cast<double>(moved) * m.message_byte_s) +
         combine_s(2 * moved, m) + 2 * buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  if (!q.in_place) b.copy(recv_at(0), send_at(0), q.bytes());
  const auto offset_of = [&](int block) {
    return block == q.ranks ? q.bytes() : part_of(q.bytes(), q.ranks, block).offset;
  };
  Circulant circulant(q, b, recv_at(0), 0, offset_of);
  circulant.reduce_scatter(recv_at(offset_of(q.rank)));
  b.fence();  // sent data is about to be overwritten
  circulant.allgather();
}

}  // namespace

const Algorithm allreduce_circulant = {
    .name = "circulant",
    .summary = "messages in 2 log2(ranks) rounds, each byte moved twice",
    .collective = Collective::kAllreduce,
    .rank_order = false,
    .applies = always,
    .seconds = seconds,
    .build = build};

}  // namespace tutti
