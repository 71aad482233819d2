// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Mixed scatterv: short blocks are copied from the root's slot; long ones are pulled from its send
// buffer, or go as messages where ranks cannot read it. Each rank knows its own size, the root all.
// T = sigma + pn takeover + n handover for short blocks of n, 2 sigma + pi + n pull for long ones,
// where pi is the start of a pull, or sigma + (p-1) (alpha + n beta).
#include "algorithms/shown.hpp"

namespace tutti {
namespace {

double of_blocks(const Problem& q, const Machine& m) {
  const bool by_message = !is_short(q, q.bytes()) && !q.limits.pulls;
  return give_s(q, q.ranks - 1, m) + take_s(q, by_message ? q.ranks - 1 : 1, m) + buffers_s(q, m) +
         2 * q.ranks * m.step_s;
}

double seconds(const Problem& q, const Machine& m) { return over_sizes(q, m, of_blocks); }

void build(const Problem& q, Builder& b) {
  ShownBlocks blocks(q, b);
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

const Algorithm scatterv_mixed = {"mixed",
                                  "short blocks through slots, long ones pulled or sent",
                                  Collective::kScatterv,
                                  true,
                                  has_areas,
                                  seconds,
                                  build};

}  // namespace tutti
