// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// One-shot reduce: every rank but the root stages its data in its slot, the root reads all slots
// and reduces in rank order. The message must fit a slot. T = sigma + (p-1)n handover + n gamma:
// the root moves all bytes, so it suits few ranks or short messages.
#include "algorithms/common.hpp"
#include "algorithms/cost.hpp"

namespace tutti {
namespace {

Applies applies(const Problem& q) { return fits_slot(q, q.bytes()); }

double seconds(const Problem& q, const Machine& m) {
  const double root = slot_read_s(q, others_blocks_bytes(q), m) + combine_s(q.bytes(), m) +
                      touch_s(q, q.bytes(), m);
  const double each = slot_write_s(q, q.bytes(), m) + touch_s(q, q.bytes(), m);
  return sync_s(q, m) + rooted_s(q, root, each, m);
}

void build(const Problem& q, Builder& b) {
  if (q.rank != q.root) {
    b.copy(Ref::of(Space::kSlot, 0, q.rank), send_at(0), q.bytes());
    return b.publish(1);
  }
  b.publish(1);
  b.await_all(1);
  b.reduce(recv_at(0), one_of_each_rank(q, send_at(0), Space::kSlot, 0), q.bytes(), true,
           streams(q, q.bytes()));
}

}  // namespace

const Algorithm reduce_one_shot = {.name = "one_shot",
                                   .summary = "the root reads and reduces all slots",
                                   .collective = Collective::kReduce,
                                   .rank_order = true,
                                   .applies = applies,
                                   .seconds = seconds,
                                   .build = build};

}  // namespace tutti
