// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Gatherv by messages: everyone sends its block to the root. Any number of ranks; each knows its
// own size, the root those that it expects. T = (p-1) (alpha + n beta), blocks of n, all of it at
// the root.
#include "algorithms/cost.hpp"
#include "algorithms/uneven.hpp"

namespace tutti {
namespace {

void build(const Problem& q, Builder& b) {
  if (q.rank != q.root) return send_block_to(q.root, q.send_block(0), b);
  keep_block(q, b, 0, q.rank);
  for (int i = 1; i < q.ranks; ++i) {
    recv_block_from(rank_after(q, i), q.recv_block(rank_after(q, i)), b);
  }
}

}  // namespace

const Algorithm gatherv_direct = {.name = "direct",
                                  .summary = "messages to the root",
                                  .collective = Collective::kGatherv,
                                  .rank_order = true,
                                  .applies = always,
                                  .seconds = over_sizes<one_by_one_s>,
                                  .build = build};

}  // namespace tutti
