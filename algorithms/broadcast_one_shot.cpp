// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// One-shot broadcast: the root stages the message in its slot, all others copy it from there.
// The message must fit a slot.
// T = sigma + n handover.
#include "algorithms/common.hpp"
#include "algorithms/cost.hpp"

namespace tutti {
namespace {

Applies applies(const Problem& q) { return fits_slot(q, q.bytes()); }

double seconds(const Problem& q, const Machine& m) {
  return sync_s(q, m) + rooted_s(q, slot_write_s(q, q.bytes(), m),
                                 slot_read_s(q, q.bytes(), m) + buffers_s(q, m), m);
}

void build(const Problem& q, Builder& b) {
  const Ref slot = Ref::of(Space::kSlot, 0, q.root);
  if (q.rank == q.root) {
    b.copy(slot, recv_at(0), q.bytes());
    return b.publish(1);
  }
  b.publish(1);
  b.await(q.root, 1);
  b.copy(recv_at(0), slot, q.bytes(), streams(q, q.bytes()));
}

}  // namespace

const Algorithm broadcast_one_shot = {.name = "one_shot",
                                      .summary = "everyone copies from the root's slot",
                                      .collective = Collective::kBroadcast,
                                      .rank_order = true,
                                      .applies = applies,
                                      .seconds = seconds,
                                      .build = build};

}  // namespace tutti
