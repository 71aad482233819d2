// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Scatterv by messages: the root sends every block to its owner. Any number of ranks; each knows
// its own size, the root all. T = (p-1) (alpha + n beta), blocks of n, all of it at the root.
#include "algorithms/cost.hpp"
#include "algorithms/uneven.hpp"

namespace tutti {
namespace {

void build(const Problem& q, Builder& b) {
  if (q.rank != q.root) return recv_block_from(q.root, q.recv_block(0), b);
  for (int i = 1; i < q.ranks; ++i) {
    send_block_to(rank_after(q, i), q.send_block(rank_after(q, i)), b);
  }
  keep_block(q, b, q.rank, 0);
}

}  // namespace

const Algorithm scatterv_direct = {.name = "direct",
                                   .summary = "messages from the root",
                                   .collective = Collective::kScatterv,
                                   .rank_order = true,
                                   .applies = always,
                                   .seconds = over_sizes<one_by_one_s>,
                                   .build = build};

}  // namespace tutti
