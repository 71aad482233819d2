// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// One-shot allreduce: every rank stages its data, all read all and reduce in rank order
// (one_shot.hpp). Known from the shared-memory allreduce of DeepSpeed ("symmetric") and NCCL's
// one-shot kernels. The message must fit a slot, or be of at most 56 bytes in a line. T = sigma +
// (p-1)n handover + n gamma, in lines sigma + pn gamma. There is one synchronisation, but everyone
// reads everything, so it suits few ranks or short messages.
#include "algorithms/one_shot.hpp"

namespace tutti {
namespace {

double in_lines_s(const Problem& q, const Machine& m) {
  return sync_s(q, m) + combine_s(all_blocks_bytes(q), m);
}

double in_slots_s(const Problem& q, const Machine& m) {
  return slot_write_s(q, q.bytes(), m) + sync_s(q, m) + slot_read_s(q, others_blocks_bytes(q), m) +
         combine_s(q.bytes(), m) + buffers_s(q, m);
}

template <Space space>
void build(const Problem& q, Builder& b) {
  claim_staging<space>(b, q.bytes());
  b.copy(Ref::of(space, 0, q.rank), send_at(0), q.bytes());
  b.publish(1);
  b.await_all(1);
  b.reduce(recv_at(0), one_of_each_rank(q, send_at(0), space, 0), q.bytes(), true,
           stores_non_temporal_from<space>(q, q.bytes()));
}

}  // namespace

const Algorithm allreduce_inline = {
    .name = "inline",
    .summary = "payload travels in the call's cache line; up to 56 bytes",
    .collective = Collective::kAllreduce,
    .rank_order = true,
    .applies = block_fits<Space::kLine>,
    .seconds = in_lines_s,
    .build = build<Space::kLine>};
const Algorithm allreduce_one_shot = {.name = "one_shot",
                                      .summary = "everyone reads all slots and reduces everything",
                                      .collective = Collective::kAllreduce,
                                      .rank_order = true,
                                      .applies = block_fits<Space::kSlot>,
                                      .seconds = in_slots_s,
                                      .build = build<Space::kSlot>};

}  // namespace tutti
