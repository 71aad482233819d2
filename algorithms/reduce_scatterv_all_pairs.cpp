// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// All-pairs reduce_scatterv: everyone sends every block to its owner, who reduces all in rank
// order. Any number of ranks. It gives the same bits as the algorithms of shared memory. T = (p-1)
// alpha + (p-1)n beta + pn gamma, blocks of at most n.
#include "algorithms/all_pairs.hpp"
#include "algorithms/cost.hpp"
#include "algorithms/uneven.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  return (q.ranks - 1) * message_s(q.bytes(), m) + combine_s(all_blocks_bytes(q), m) +
         buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  const Ref arrived = b.scratch(q.send_block(q.rank).bytes * static_cast<uint64_t>(q.ranks));
  reduce_from_all(
      q, b, arrived, recv_at(0), [&](int rank) { return at_send(q.send_block(rank)); },
      [&](int rank) { return q.send_block(rank).bytes; });
}

}  // namespace

const Algorithm reduce_scatterv_all_pairs = {.name = "all_pairs",
                                             .summary = "messages to the owner of each block",
                                             .collective = Collective::kReduceScatterv,
                                             .rank_order = true,
                                             .applies = always,
                                             .seconds = seconds,
                                             .build = build};

}  // namespace tutti
