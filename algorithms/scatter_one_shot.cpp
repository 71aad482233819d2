// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// One-shot scatter: the root stages all blocks in its slot, each rank copies its own. All blocks
// together must fit a slot. T = sigma + pn takeover + n handover, blocks of n.
#include "algorithms/common.hpp"
#include "algorithms/cost.hpp"

namespace tutti {
namespace {

Applies applies(const Problem& q) { return fits_slot(q, others_blocks_bytes(q)); }

double seconds(const Problem& q, const Machine& m) {
  const double cached = cached_in_roots_slots(q, m);
  const double root =
      stage_s(others_blocks_bytes(q), cached, m) + touch_s(q, all_blocks_bytes(q), m);
  const double each = fetch_s(q.bytes(), cached, m) + touch_s(q, q.bytes(), m);
  return sync_s(q, m) + rooted_s(q, root, each, m);
}

void build(const Problem& q, Builder& b) {
  if (q.rank == q.root) {
    stage_others_blocks(q, b, Space::kSlot);
    b.publish(1);
    return keep_own_block(q, b);
  }
  b.publish(1);
  b.await(q.root, 1);
  b.copy(recv_at(0), Ref::of(Space::kSlot, left_at(q, q.rank, q.root), q.root), q.bytes(),
         streams(q, q.bytes()));
}

}  // namespace

const Algorithm scatter_one_shot = {.name = "one_shot",
                                    .summary = "each rank copies its block from the root's slot",
                                    .collective = Collective::kScatter,
                                    .rank_order = true,
                                    .applies = applies,
                                    .seconds = seconds,
                                    .build = build};

}  // namespace tutti
