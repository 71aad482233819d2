// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// One-shot gather: every rank but the root stages its block in its slot, the root copies all. A
// block must fit a slot. T = sigma + (p-1)n handover + p steps, blocks of n.
#include "algorithms/common.hpp"
#include "algorithms/cost.hpp"

namespace tutti {
namespace {

Applies applies(const Problem& q) { return fits_slot(q, q.bytes()); }

double seconds(const Problem& q, const Machine& m) {
  const double root = slot_read_s(q, others_blocks_bytes(q), m) +
                      touch_s(q, all_blocks_bytes(q), m) + q.ranks * m.step_s;
  const double each = slot_write_s(q, q.bytes(), m) + touch_s(q, q.bytes(), m);
  return sync_s(q, m) + rooted_s(q, root, each, m);
}

void build(const Problem& q, Builder& b) {
  if (q.rank != q.root) {
    b.copy(Ref::of(Space::kSlot, 0, q.rank), send_at(0), q.bytes());
    return b.publish(1);
  }
  b.publish(1);
  copy_own_block(q, b);
  b.await_all(1);
  for (int i = 1; i < q.ranks; ++i) {
    const int peer = rank_after(q, i);
    b.copy(recv_at(block_at(q, peer)), Ref::of(Space::kSlot, 0, peer), q.bytes(),
           streams(q, all_blocks_bytes(q)));
  }
}

}  // namespace

const Algorithm gather_one_shot = {.name = "one_shot",
                                   .summary = "the root copies from all slots",
                                   .collective = Collective::kGather,
                                   .rank_order = true,
                                   .applies = applies,
                                   .seconds = seconds,
                                   .build = build};

}  // namespace tutti
