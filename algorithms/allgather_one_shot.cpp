// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// One-shot allgather: every rank stages its block, all copy all others' (one_shot.hpp). Blocks may
// differ in length; the longest must fit a slot, or be of at most 56 bytes in a line.
// T = sigma + (p-1)n handover + p steps; in lines sigma + p steps.
#include "algorithms/one_shot.hpp"

namespace tutti {
namespace {

double in_lines_s(const Problem& q, const Machine& m) { return sync_s(q, m) + q.ranks * m.step_s; }

double in_slots_s(const Problem& q, const Machine& m) {
  return slot_write_s(q, q.bytes(), m) + sync_s(q, m) + slot_read_s(q, others_blocks_bytes(q), m) +
         buffers_s(q, m) + q.ranks * m.step_s;
}

template <Space space>
void build(const Problem& q, Builder& b) {
  claim_staging<space>(b, q.bytes());
  const uint64_t own = q.send_block(0).bytes;
  b.copy(Ref::of(space, 0, q.rank), send_at(0), own);
  b.publish(1);
  copy_own_block(q, b);  // the peers need not wait for that
  b.await_all(1);
  for_each_peer(q, [&](int peer) {
    const Range block = q.recv_block(peer);
    b.copy(at_recv(block), Ref::of(space, 0, peer), block.bytes,
           stores_non_temporal_from<space>(q, all_blocks_bytes(q)));
  });
}

}  // namespace

constexpr Algorithm allgather_inline = {
    .name = "inline",
    .summary = "blocks travel in the call lines; up to 56 bytes each",
    .collective = Collective::kAllgather,
    .rank_order = true,
    .applies = block_fits<Space::kLine>,
    .seconds = in_lines_s,
    .build = build<Space::kLine>};
constexpr Algorithm allgather_one_shot = {.name = "one_shot",
                                          .summary = "everyone copies from all slots",
                                          .collective = Collective::kAllgather,
                                          .rank_order = true,
                                          .applies = block_fits<Space::kSlot>,
                                          .seconds = in_slots_s,
                                          .build = build<Space::kSlot>};
constexpr Algorithm allgatherv_inline = allgather_inline.of(Collective::kAllgatherv);
constexpr Algorithm allgatherv_one_shot = allgather_one_shot.of(Collective::kAllgatherv);

}  // namespace tutti
