// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Alltoall by pulling: each rank reads its block from the send buffer of every other. Single copies
// as in kernel-assisted MPI libraries (Chakraborty, Subramoni, Panda, CLUSTER 2017). Ranks that can
// read one another's buffers. T = 2 sigma + (p-1) (pi + n pull), blocks of n, where pi is the start
// of a pull.
#include "algorithms/cost.hpp"
#include "algorithms/pull.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  return 2 * sync_s(q, m) + (q.ranks - 1) * pull_s(q, q.bytes(), m) + touch_s(q, 2 * q.bytes(), m);
}

void build(const Problem& q, Builder& b) {
  b.show_buffers();
  copy_block_to_self(q, b);
  for_each_peer(q, [&](int peer) {
    b.await(peer, 1);
    b.pull(recv_at(block_at(q, peer)), Ref::of(Space::kPeerSend, block_at(q, q.rank), peer),
           q.bytes(), pulls_stream(q, all_blocks_bytes(q)));
  });
  b.publish(2);
  b.await_all(2);
}

}  // namespace

const Algorithm alltoall_pull = {"pull",
                                 "everyone reads its blocks from all send buffers",
                                 Collective::kAlltoall,
                                 true,
                                 can_pull,
                                 seconds,
                                 build};

}  // namespace tutti
