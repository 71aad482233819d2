// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Mixed scatterv: short blocks are copied from the root's slot, long ones come as messages. Each
// rank knows its own size, the root all. T = sigma + pn takeover + n handover for short blocks of
// n, sigma + (p-1) (alpha + n beta) for long ones.
#include "algorithms/shown.hpp"

namespace tutti {
namespace {

double of_blocks(const Problem& q, const Machine& m) {
  const int one_by_one = is_short(q, q.bytes()) ? 1 : q.ranks - 1;
  return give_s(q, q.ranks - 1, m) + take_s(q, one_by_one, m) + buffers_s(q, m) +
         2 * q.ranks * m.step_s;
}

void build(const Problem& q, Builder& b) {
  HeadedBlocks blocks(q, b);
  if (q.rank == q.root) {
    for_each_peer(q, [&](int peer) { blocks.give(peer, q.send_block(peer)); });
    blocks.enter();
    keep_block(q, b, q.rank, 0);
    return blocks.end();
  }
  blocks.enter();
  b.await(q.root, 1);
  blocks.take(q.root, q.recv_block(0));
  blocks.end();
}

}  // namespace

const Algorithm scatterv_mixed = {.name = "mixed",
                                  .summary = "short blocks through slots, long ones sent",
                                  .collective = Collective::kScatterv,
                                  .rank_order = true,
                                  .applies = has_areas,
                                  .seconds = over_sizes<of_blocks>,
                                  .build = build};

}  // namespace tutti
