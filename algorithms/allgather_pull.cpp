// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Allgather by pulling: everyone reads all send buffers into its receive buffer, each rank another
// one first. This is one copy per byte, the fewest there can be. Direct spread with kernel-assisted
// copies (Chakraborty, Subramoni, Panda, CLUSTER 2017). Ranks that can read one another's buffers.
// Blocks of any length, also of different ones. T = 2 sigma + (p-1) (pi + n pull), where pi is the
// start of a pull.
#include "algorithms/cost.hpp"
#include "algorithms/pull.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  return 2 * sync_s(q, m) + (q.ranks - 1) * pull_s(q, q.bytes(), m) +
         touch_s(q, all_blocks_bytes(q), m);
}

void build(const Problem& q, Builder& b) {
  b.export_buffers();
  for_each_peer(q, [&](int peer) {
    b.await(peer, 1);
    const Range block = q.recv_block(peer);
    b.pull(at_recv(block), Ref::of(Space::kPeerSend, 0, peer), block.bytes,
           pulls_non_temporal(q, all_blocks_bytes(q)));
  });
  b.publish(2);
  copy_own_block(q, b);
  b.await_all(2);
}

}  // namespace

constexpr Algorithm allgather_pull = {.name = "pull",
                                      .summary = "everyone reads all send buffers",
                                      .collective = Collective::kAllgather,
                                      .rank_order = true,
                                      .applies = can_pull,
                                      .seconds = seconds,
                                      .build = build};
constexpr Algorithm allgatherv_pull = allgather_pull.of(Collective::kAllgatherv);

}  // namespace tutti
