// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// One-shot scatter: the root stages all blocks, each rank copies its own (one_shot.hpp). All blocks
// together must fit a slot, or be of at most 56 bytes in a line.
// T = sigma + pn takeover + n handover, blocks of n; in lines sigma.
#include "algorithms/one_shot.hpp"

namespace tutti {
namespace {

double in_lines_s(const Problem& q, const Machine& m) { return sync_s(q, m) + 2 * m.step_s; }

double in_slots_s(const Problem& q, const Machine& m) {
  const double cached = cached_in_roots_slots(q, m);
  const double root =
      stage_s(others_blocks_bytes(q), cached, m) + touch_s(q, all_blocks_bytes(q), m);
  const double each = fetch_s(q.bytes(), cached, m) + touch_s(q, q.bytes(), m);
  return sync_s(q, m) + rooted_s(q, root, each, m);
}

template <Space space>
void build(const Problem& q, Builder& b) {
  if (q.rank == q.root) {
    stage_others_blocks(q, b, space);
    b.publish(1);
    return keep_block(q, b, q.rank, 0);
  }
  b.publish(1);
  b.await(q.root, 1);
  b.copy(recv_at(0), Ref::of(space, left_at(q, q.rank, q.root), q.root), q.bytes(),
         stores_non_temporal_from<space>(q, q.bytes()));
}

}  // namespace

const Algorithm scatter_inline = {
    .name = "inline",
    .summary = "blocks travel in the root's call line; up to 56 bytes in all",
    .collective = Collective::kScatter,
    .rank_order = true,
    .applies = others_blocks_fit<Space::kLine>,
    .seconds = in_lines_s,
    .build = build<Space::kLine>};
const Algorithm scatter_one_shot = {.name = "one_shot",
                                    .summary = "each rank copies its block from the root's slot",
                                    .collective = Collective::kScatter,
                                    .rank_order = true,
                                    .applies = others_blocks_fit<Space::kSlot>,
                                    .seconds = in_slots_s,
                                    .build = build<Space::kSlot>};

}  // namespace tutti
