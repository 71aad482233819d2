// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// One-shot allreduce: every rank stages its data in its slot, all read all and reduce in rank
// order. Known from the shared-memory allreduce of DeepSpeed ("symmetric") and NCCL's one-shot
// kernels. The message must fit a slot. T = sigma + (p-1)n handover + n gamma: one synchronisation,
// but everyone reads everything, so it suits few ranks or short messages.
#include "algorithms/common.hpp"
#include "algorithms/cost.hpp"

namespace tutti {
namespace {

Applies applies(const Problem& q) { return fits_ping_pong_slot(q, q.bytes()); }

double seconds(const Problem& q, const Machine& m) {
  return slot_write_s(q, q.bytes(), m) + sync_s(q, m) + slot_read_s(q, others_blocks_bytes(q), m) +
         combine_s(q.bytes(), m) + buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  b.use_ping_pong_slots(q.bytes());
  b.copy(Ref::of(Space::kSlot, 0, q.rank), send_at(0), q.bytes());
  b.publish(1);
  b.await_all(1);
  b.reduce(recv_at(0), one_of_each_rank(q, send_at(0), Space::kSlot, 0), q.bytes(), true,
           streams(q, q.bytes()));
}

}  // namespace

const Algorithm allreduce_one_shot = {.name = "one_shot",
                                      .summary = "everyone reads all slots and reduces everything",
                                      .collective = Collective::kAllreduce,
                                      .rank_order = true,
                                      .applies = applies,
                                      .seconds = seconds,
                                      .build = build};

}  // namespace tutti
