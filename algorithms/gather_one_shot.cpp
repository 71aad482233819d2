// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// One-shot gather: every rank but the root stages its block, the root copies all (one_shot.hpp). A
// block must fit a slot, or be of at most 56 bytes in a line.
// T = sigma + (p-1)n handover + p steps, blocks of n; in lines sigma + p steps.
#include "algorithms/one_shot.hpp"

namespace tutti {
namespace {

double in_lines_s(const Problem& q, const Machine& m) { return sync_s(q, m) + q.ranks * m.step_s; }

double in_slots_s(const Problem& q, const Machine& m) {
  const double root = slot_read_s(q, others_blocks_bytes(q), m) +
                      touch_s(q, all_blocks_bytes(q), m) + q.ranks * m.step_s;
  const double each = slot_write_s(q, q.bytes(), m) + touch_s(q, q.bytes(), m);
  return sync_s(q, m) + rooted_s(q, root, each, m);
}

template <Space space>
void build(const Problem& q, Builder& b) {
  if (q.rank != q.root) {
    b.copy(Ref::of(space, 0, q.rank), send_at(0), q.bytes());
    return b.publish(1);
  }
  b.publish(1);
  copy_own_block(q, b);
  b.await_all(1);
  for_each_peer(q, [&](int peer) {
    b.copy(recv_at(block_at(q, peer)), Ref::of(space, 0, peer), q.bytes(),
           stores_non_temporal_from<space>(q, all_blocks_bytes(q)));
  });
}

}  // namespace

const Algorithm gather_inline = {.name = "inline",
                                 .summary = "blocks travel in the call lines; up to 56 bytes each",
                                 .collective = Collective::kGather,
                                 .rank_order = true,
                                 .applies = block_fits<Space::kLine>,
                                 .seconds = in_lines_s,
                                 .build = build<Space::kLine>};
const Algorithm gather_one_shot = {.name = "one_shot",
                                   .summary = "the root copies from all slots",
                                   .collective = Collective::kGather,
                                   .rank_order = true,
                                   .applies = block_fits<Space::kSlot>,
                                   .seconds = in_slots_s,
                                   .build = build<Space::kSlot>};

}  // namespace tutti
