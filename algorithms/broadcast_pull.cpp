// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Broadcast by pulling: everyone reads the root's buffer; the root waits until all have. One copy
// per byte, and the root makes none. Ranks that can read one another's buffers. T = 2 sigma + pi +
// n pull, where pi is the start of a pull. Ranks that wait for their turn (pull.hpp) are taken to
// need no longer than without turns.
#include "algorithms/cost.hpp"
#include "algorithms/pull.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  return 2 * sync_s(q, m) + pull_s(q, q.bytes(), m) + touch_s(q, q.bytes(), m);
}

void build(const Problem& q, Builder& b) {
  b.export_buffers();
  b.ticks(2);
  if (q.rank == q.root) return b.await_all(2);
  b.await(q.root, 1);
  await_turn_to_pull(q, b, 2);
  b.pull(recv_at(0), Ref::of(Space::kPeerRecv, 0, q.root), q.bytes());
  b.publish(2);
}

}  // namespace

const Algorithm broadcast_pull = {.name = "pull",
                                  .summary = "everyone reads the root's buffer",
                                  .collective = Collective::kBroadcast,
                                  .rank_order = true,
                                  .applies = can_pull,
                                  .seconds = seconds,
                                  .build = build};

}  // namespace tutti
