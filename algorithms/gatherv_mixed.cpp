// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Mixed gatherv: the root copies short blocks from the slots; long ones it pulls from the send
// buffers, or they go as messages where ranks cannot read these. Each rank knows its own size, the
// root those that it expects. T = sigma + (p-1)n handover for short blocks of n, 2 sigma + (p-1)
// (pi + n pull) for long ones, where pi is the start of a pull, or sigma + (p-1) (alpha + n beta).
#include "algorithms/shown.hpp"

namespace tutti {
namespace {

double of_blocks(const Problem& q, const Machine& m) {
  const double rest_s = buffers_s(q, m) + 2 * q.ranks * m.step_s;
  if (!is_short(q, q.bytes()) && q.limits.pulls) {
    return 2 * sync_s(q, m) + root_pull_s((q.ranks - 1) * pull_s(q, q.bytes(), m), m) +
           rest_s / m.ranks_per_core;
  }
  return give_s(q, 1, m) + take_s(q, q.ranks - 1, m) + rest_s;
}

double seconds(const Problem& q, const Machine& m) { return over_sizes(q, m, of_blocks); }

void build(const Problem& q, Builder& b) {
  ShownBlocks blocks(q, b);
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

const Algorithm gatherv_mixed = {"mixed",
                                 "short blocks through slots, long ones pulled or sent",
                                 Collective::kGatherv,
                                 true,
                                 has_areas,
                                 seconds,
                                 build};

}  // namespace tutti
