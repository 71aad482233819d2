// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// One-shot broadcast: the root stages the message, all others copy it from there (one_shot.hpp).
// It must fit a slot, or be of at most 56 bytes in a line.
// T = sigma + n handover; in lines sigma.
#include "algorithms/one_shot.hpp"

namespace tutti {
namespace {

double in_lines_s(const Problem& q, const Machine& m) { return sync_s(q, m); }

double in_slots_s(const Problem& q, const Machine& m) {
  return sync_s(q, m) + rooted_s(q, slot_write_s(q, q.bytes(), m),
                                 slot_read_s(q, q.bytes(), m) + buffers_s(q, m), m);
}

template <Space space>
void build(const Problem& q, Builder& b) {
  const Ref staged = Ref::of(space, 0, q.root);
  if (q.rank == q.root) {
    b.copy(staged, recv_at(0), q.bytes());
    return b.publish(1);
  }
  b.publish(1);
  b.await(q.root, 1);
  b.copy(recv_at(0), staged, q.bytes(), stores_non_temporal_from<space>(q, q.bytes()));
}

}  // namespace

const Algorithm broadcast_inline = {
    .name = "inline",
    .summary = "payload travels in the root's call line; up to 56 bytes",
    .collective = Collective::kBroadcast,
    .rank_order = true,
    .applies = block_fits<Space::kLine>,
    .seconds = in_lines_s,
    .build = build<Space::kLine>};
const Algorithm broadcast_one_shot = {.name = "one_shot",
                                      .summary = "everyone copies from the root's slot",
                                      .collective = Collective::kBroadcast,
                                      .rank_order = true,
                                      .applies = block_fits<Space::kSlot>,
                                      .seconds = in_slots_s,
                                      .build = build<Space::kSlot>};

}  // namespace tutti
