// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Scatter by pulling: each rank reads its block from the send buffer of the root, which waits until
// all have. Ranks that can read one another's buffers. Blocks of any length, also of different ones
// where the root shows each. T = 2 sigma + pi + n pull, blocks of n, where pi is the start of a
// pull: all ranks copy at once.
#include "algorithms/cost.hpp"
#include "algorithms/pull.hpp"
#include "algorithms/uneven.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  return 2 * sync_s(q, m) + pull_s(q, q.bytes(), m) + touch_s(q, 2 * q.bytes(), m);
}

void build(const Problem& q, Builder& b) {
  b.export_buffers();
  b.ticks(2);
  if (q.rank == q.root) {
    keep_block(q, b, q.rank, 0);
    return b.await_all(2);
  }
  b.await(q.root, 1);
  await_turn_to_pull(q, b, 2);
  const uint64_t in_root = sizes_are_own(q.collective) ? 0 : block_at(q, q.rank);
  b.pull(recv_at(0), Ref::of(Space::kPeerSend, in_root, q.root), q.recv_block(0).bytes);
  b.publish(2);
}

}  // namespace

constexpr Algorithm scatter_pull = {
    .name = "pull",
    .summary = "each rank reads its block from the root's send buffer",
    .collective = Collective::kScatter,
    .rank_order = true,
    .applies = can_pull,
    .seconds = seconds,
    .build = build};
constexpr Algorithm scatterv_pull = scatter_pull.of(Collective::kScatterv, can_pull_blocks);

}  // namespace tutti
