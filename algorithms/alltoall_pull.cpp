// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Alltoall by pulling: each rank reads its block from the send buffer of every other. Single copies
// as in kernel-assisted MPI libraries (Chakraborty, Subramoni, Panda, CLUSTER 2017). Ranks that can
// read one another's buffers. Blocks of any length, also of different ones where the owner shows
// each. T = 2 sigma + (p-1) (pi + n pull), blocks of n, where pi is the start
// of a pull.
#include "algorithms/cost.hpp"
#include "algorithms/pull.hpp"
#include "algorithms/uneven.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  return 2 * sync_s(q, m) + (q.ranks - 1) * pull_s(q, q.bytes(), m) + touch_s(q, 2 * q.bytes(), m);
}

void build(const Problem& q, Builder& b) {
  b.export_buffers();
  const bool shown = sizes_are_own(q.collective);
  const uint64_t in_peer = shown ? 0 : block_at(q, q.rank);
  if (shown) {
    keep_block(q, b, q.rank, q.rank);
  } else {
    copy_block_to_self(q, b);
  }
  const bool non_temporal = pulls_non_temporal(q, all_blocks_bytes(q));
  Arrivals arrivals(q, b);
  for_each_peer(q, [&](int peer) {
    b.await(peer, 1);
    const Range block = q.recv_block(peer);
    b.pull(arrivals.place_for(block), Ref::of(Space::kPeerSend, in_peer, peer), block.bytes,
           non_temporal && !q.in_place);
  });
  b.publish(2);
  b.await_all(2);
  arrivals.land(non_temporal);
}

}  // namespace

constexpr Algorithm alltoall_pull = {.name = "pull",
                                     .summary = "everyone reads its blocks from all send buffers",
                                     .collective = Collective::kAlltoall,
                                     .rank_order = true,
                                     .applies = can_pull,
                                     .seconds = seconds,
                                     .build = build};
constexpr Algorithm alltoallv_pull = alltoall_pull.of(Collective::kAlltoallv, can_pull_blocks);

}  // namespace tutti
