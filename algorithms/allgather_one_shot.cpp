// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// One-shot allgather: every rank stages its block in its slot, all copy all others'. Blocks may
// differ in length; the longest must fit a slot.
// T = sigma + (p-1)n handover + p steps.
#include "algorithms/common.hpp"
#include "algorithms/cost.hpp"

namespace tutti {
namespace {

Applies applies(const Problem& q) { return fits_ping_pong_slot(q, q.bytes()); }

double seconds(const Problem& q, const Machine& m) {
  return slot_write_s(q, q.bytes(), m) + sync_s(q, m) + slot_read_s(q, others_blocks_bytes(q), m) +
         buffers_s(q, m) + q.ranks * m.step_s;
}

void build(const Problem& q, Builder& b) {
  b.use_ping_pong_slots(q.bytes());
  const uint64_t own = q.send_block(0).bytes;
  b.copy(Ref::of(Space::kSlot, 0, q.rank), send_at(0), own);
  enter_and_keep(q, b, own, [&] { copy_own_block(q, b); });
  b.await_all(1);
  for (int i = 1; i < q.ranks; ++i) {
    const int peer = rank_after(q, i);
    const Range block = q.recv_block(peer);
    b.copy(at_recv(block), Ref::of(Space::kSlot, 0, peer), block.bytes,
           streams(q, all_blocks_bytes(q)));
  }
}

}  // namespace

const Algorithm allgather_one_shot = {.name = "one_shot",
                                      .summary = "everyone copies from all slots",
                                      .collective = Collective::kAllgather,
                                      .rank_order = true,
                                      .applies = applies,
                                      .seconds = seconds,
                                      .build = build};
const Algorithm allgatherv_one_shot = {.name = "one_shot",
                                       .summary = "everyone copies from all slots",
                                       .collective = Collective::kAllgatherv,
                                       .rank_order = true,
                                       .applies = applies,
                                       .seconds = seconds,
                                       .build = build};

}  // namespace tutti
