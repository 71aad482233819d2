// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Mixed gatherv: the root copies short blocks from the slots, long ones come as messages. Each rank
// knows its own size, the root those that it expects. T = sigma + (p-1)n handover for short blocks
// of n, sigma + (p-1) (alpha + n beta) for long ones.
#include "algorithms/shown.hpp"

namespace tutti {
namespace {

double of_blocks(const Problem& q, const Machine& m) {
  return give_s(q, 1, m) + take_s(q, q.ranks - 1, m) + buffers_s(q, m) + 2 * q.ranks * m.step_s;
}

void build(const Problem& q, Builder& b) {
  HeadedBlocks blocks(q, b);
  if (q.rank != q.root) {
    blocks.give(q.root, q.send_block(0));
    blocks.enter();
    return blocks.end();
  }
  blocks.enter();
  keep_block(q, b, 0, q.rank);
  for_each_peer(q, [&](int peer) {
    b.await(peer, 1);
    blocks.take(peer, q.recv_block(peer));
  });
  blocks.end();
}

}  // namespace

const Algorithm gatherv_mixed = {.name = "mixed",
                                 .summary = "short blocks through slots, long ones sent",
                                 .collective = Collective::kGatherv,
                                 .rank_order = true,
                                 .applies = has_areas,
                                 .seconds = over_sizes<of_blocks>,
                                 .build = build};

}  // namespace tutti
