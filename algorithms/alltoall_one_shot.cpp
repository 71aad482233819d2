// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// One-shot alltoall: every rank stages what others get in its slot; each copies its own from all
// slots. All blocks together must fit a slot. T = sigma + (p-1)n handover + p steps, blocks of n.
#include "algorithms/common.hpp"
#include "algorithms/cost.hpp"

namespace tutti {
namespace {

Applies applies(const Problem& q) { return fits_ping_pong_slot(q, others_blocks_bytes(q)); }

double seconds(const Problem& q, const Machine& m) {
  const uint64_t others = others_blocks_bytes(q);
  return slot_write_s(q, others, m) + sync_s(q, m) + slot_read_s(q, others, m) + buffers_s(q, m) +
         q.ranks * m.step_s;
}

void build(const Problem& q, Builder& b) {
  b.use_ping_pong_slots(others_blocks_bytes(q));
  stage_others_blocks(q, b, Space::kSlot);
  b.publish(1);
  copy_block_to_self(q, b);
  b.await_all(1);
  for (int i = 1; i < q.ranks; ++i) {
    const int peer = rank_after(q, i);
    b.copy(recv_at(block_at(q, peer)), Ref::of(Space::kSlot, left_at(q, q.rank, peer), peer),
           q.bytes(), streams(q, all_blocks_bytes(q)));
  }
}

}  // namespace

const Algorithm alltoall_one_shot = {.name = "one_shot",
                                     .summary = "everyone copies its blocks from all slots",
                                     .collective = Collective::kAlltoall,
                                     .rank_order = true,
                                     .applies = applies,
                                     .seconds = seconds,
                                     .build = build};

}  // namespace tutti
