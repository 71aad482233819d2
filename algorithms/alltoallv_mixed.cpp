// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Mixed alltoallv: short blocks pass through slots, long ones go as messages. Each rank knows its
// own sizes only. T = sigma + (p-1)n handover for short blocks of n, sigma + (p-1) (alpha + n beta)
// for long ones.
#include "algorithms/shown.hpp"

namespace tutti {
namespace {

double of_blocks(const Problem& q, const Machine& m) {
  return give_s(q, q.ranks - 1, m) + take_s(q, q.ranks - 1, m) + buffers_s(q, m) +
         2 * q.ranks * m.step_s;
}

void build(const Problem& q, Builder& b) {
  HeadedBlocks blocks(q, b);
  bool all_short = true;
  for_each_peer(q, [&](int peer) {
    blocks.give(peer, q.send_block(peer));
    all_short &= is_short(q, q.recv_block(peer).bytes);
  });
  blocks.enter();
  keep_block(q, b, q.rank, q.rank);
  if (all_short) b.await_all(1);
  for (int i = 1; i < q.ranks; ++i) {
    const int peer = rank_after(q, -i);
    if (!all_short) b.await(peer, 1);
    blocks.take(peer, q.recv_block(peer));
  }
  blocks.end();
}

}  // namespace

const Algorithm alltoallv_mixed = {.name = "mixed",
                                   .summary = "short blocks through slots, long ones sent",
                                   .collective = Collective::kAlltoallv,
                                   .rank_order = true,
                                   .applies = has_areas,
                                   .seconds = over_sizes<of_blocks>,
                                   .build = build};

}  // namespace tutti
