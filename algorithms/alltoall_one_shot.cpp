// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// One-shot alltoall: every rank stages what others get; each copies its own from all
// (one_shot.hpp). All blocks together must fit a slot, or be of at most 56 bytes in a line. T =
// sigma + (p-1)n handover + p steps, blocks of n; in lines sigma + p steps.
#include "algorithms/one_shot.hpp"

namespace tutti {
namespace {

double in_lines_s(const Problem& q, const Machine& m) {
  return sync_s(q, m) + 2 * q.ranks * m.step_s;
}

double in_slots_s(const Problem& q, const Machine& m) {
  const uint64_t others = others_blocks_bytes(q);
  return slot_write_s(q, others, m) + sync_s(q, m) + slot_read_s(q, others, m) + buffers_s(q, m) +
         q.ranks * m.step_s;
}

template <Space space>
void build(const Problem& q, Builder& b) {
  claim_staging<space>(b, others_blocks_bytes(q));
  stage_others_blocks(q, b, space);
  b.publish(1);
  copy_block_to_self(q, b);
  b.await_all(1);
  for_each_peer(q, [&](int peer) {
    b.copy(recv_at(block_at(q, peer)), Ref::of(space, left_at(q, q.rank, peer), peer), q.bytes(),
           stores_non_temporal_from<space>(q, all_blocks_bytes(q)));
  });
}

}  // namespace

const Algorithm alltoall_inline = {
    .name = "inline",
    .summary = "blocks travel in the call lines; up to 56 bytes in all",
    .collective = Collective::kAlltoall,
    .rank_order = true,
    .applies = others_blocks_fit<Space::kLine>,
    .seconds = in_lines_s,
    .build = build<Space::kLine>};
const Algorithm alltoall_one_shot = {.name = "one_shot",
                                     .summary = "everyone copies its blocks from all slots",
                                     .collective = Collective::kAlltoall,
                                     .rank_order = true,
                                     .applies = others_blocks_fit<Space::kSlot>,
                                     .seconds = in_slots_s,
                                     .build = build<Space::kSlot>};

}  // namespace tutti
