// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Scatter by pulling: each rank reads its block from the send buffer of the root, which waits until
// all have. Ranks that can read one another's buffers. T = 2 sigma + pi + n pull, blocks of n,
// where pi is the start of a pull: all ranks copy at once.
#include "algorithms/cost.hpp"
#include "algorithms/pull.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  return 2 * sync_s(q, m) + pull_s(q, q.bytes(), m) + touch_s(q, 2 * q.bytes(), m);
}

void build(const Problem& q, Builder& b) {
  b.show_buffers();
  b.ticks(2);
  if (q.rank == q.root) {
    keep_own_block(q, b);
    return b.await_all(2);
  }
  b.await(q.root, 1);
  await_turn_to_pull(q, b, 2);
  b.pull(recv_at(0), Ref::of(Space::kPeerSend, block_at(q, q.rank), q.root), q.bytes());
  b.publish(2);
}

}  // namespace

const Algorithm scatter_pull = {"pull",
                                "each rank reads its block from the root's send buffer",
                                Collective::kScatter,
                                true,
                                can_pull,
                                seconds,
                                build};

}  // namespace tutti
