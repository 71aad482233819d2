// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Gather by pulling: the root reads all send buffers; the others wait until it has. Ranks that can
// read one another's buffers. Blocks of any length, also of different ones where the owner shows
// each. T = 2 sigma + (p-1) (pi + n pull), blocks of n, where pi is the start
// of a pull.
#include "algorithms/cost.hpp"
#include "algorithms/pull.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  return 2 * sync_s(q, m) + root_pull_s((q.ranks - 1) * pull_s(q, q.bytes(), m), m) +
         touch_s(q, 2 * q.bytes(), m) / m.ranks_per_core;
}

void build(const Problem& q, Builder& b) {
  b.export_buffers();
  b.ticks(2);
  if (q.rank != q.root) return b.await(q.root, 2);
  copy_own_block(q, b);
  for_each_peer(q, [&](int peer) {
    b.await(peer, 1);
    const Range block = q.recv_block(peer);
    b.pull(at_recv(block), Ref::of(Space::kPeerSend, 0, peer), block.bytes);
  });
  b.publish(2);
}

}  // namespace

constexpr Algorithm gather_pull = {.name = "pull",
                                   .summary = "the root reads all send buffers",
                                   .collective = Collective::kGather,
                                   .rank_order = true,
                                   .applies = can_pull,
                                   .seconds = seconds,
                                   .build = build};
constexpr Algorithm gatherv_pull = gather_pull.of(Collective::kGatherv, can_pull_blocks);

}  // namespace tutti
