// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// One-shot reduce-scatter: every rank stages what others own in its slot; each reduces its own
// block from all slots in rank order. All blocks together must fit a slot, if each is as
// long as the longest. T = sigma + (p-1)n handover + n gamma, blocks of n: moves the fewest bytes
// possible.
#include "algorithms/common.hpp"
#include "algorithms/cost.hpp"

namespace tutti {
namespace {

Applies applies(const Problem& q) { return fits_ping_pong_slot(q, others_blocks_bytes(q)); }

double seconds(const Problem& q, const Machine& m) {
  const uint64_t others = others_blocks_bytes(q);
  return slot_write_s(q, others, m) + sync_s(q, m) + slot_read_s(q, others, m) +
         combine_s(q.bytes(), m) + buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  b.use_ping_pong_slots(others_blocks_bytes(q));
  stage_others_blocks(q, b, Space::kSlot);
  b.publish(1);
  b.await_all(1);
  const Range own = q.send_block(q.rank);
  b.reduce(recv_at(0),
           one_of_each_rank(q, at_send(own), Space::kSlot,
                            [&](int peer) { return left_at(q, q.rank, peer); }),
           own.bytes, true, streams(q, q.bytes()));
}

}  // namespace

const Algorithm reduce_scatter_one_shot = {.name = "one_shot",
                                           .summary = "everyone reduces its block from all slots",
                                           .collective = Collective::kReduceScatter,
                                           .rank_order = true,
                                           .applies = applies,
                                           .seconds = seconds,
                                           .build = build};
const Algorithm reduce_scatterv_one_shot = {.name = "one_shot",
                                            .summary = "everyone reduces its block from all slots",
                                            .collective = Collective::kReduceScatterv,
                                            .rank_order = true,
                                            .applies = applies,
                                            .seconds = seconds,
                                            .build = build};

}  // namespace tutti
