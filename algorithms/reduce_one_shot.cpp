// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// One-shot reduce: every rank but the root stages its data, the root reads all and reduces in rank
// order (one_shot.hpp). The message must fit a slot, or be of at most 56 bytes in a line. T = sigma
// + (p-1)n handover + n gamma, in lines sigma + pn gamma. The root moves all bytes, so it suits few
// ranks or short messages.
#include "algorithms/one_shot.hpp"

namespace tutti {
namespace {

double in_lines_s(const Problem& q, const Machine& m) {
  return sync_s(q, m) + combine_s(all_blocks_bytes(q), m);
}

double in_slots_s(const Problem& q, const Machine& m) {
  const double root = slot_read_s(q, others_blocks_bytes(q), m) + combine_s(q.bytes(), m) +
                      touch_s(q, q.bytes(), m);
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
  b.await_all(1);
  b.reduce(recv_at(0), one_of_each_rank(q, send_at(0), space, 0), q.bytes(), true,
           stores_non_temporal_from<space>(q, q.bytes()));
}

}  // namespace

const Algorithm reduce_inline = {.name = "inline",
                                 .summary = "payload travels in the call lines; up to 56 bytes",
                                 .collective = Collective::kReduce,
                                 .rank_order = true,
                                 .applies = block_fits<Space::kLine>,
                                 .seconds = in_lines_s,
                                 .build = build<Space::kLine>};
const Algorithm reduce_one_shot = {.name = "one_shot",
                                   .summary = "the root reads and reduces all slots",
                                   .collective = Collective::kReduce,
                                   .rank_order = true,
                                   .applies = block_fits<Space::kSlot>,
                                   .seconds = in_slots_s,
                                   .build = build<Space::kSlot>};

}  // namespace tutti
