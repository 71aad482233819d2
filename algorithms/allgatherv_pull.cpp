// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Allgatherv by pulling: everyone reads the send buffers of all others. Ranks that can read one
// another's buffers.
// T = 2 sigma + (p-1) (pi + n pull), blocks of at most n, where pi is the start of a pull.
#include "algorithms/cost.hpp"
#include "algorithms/pull.hpp"
#include "algorithms/uneven.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  return 2 * sync_s(q, m) + (q.ranks - 1) * pull_s(q, q.bytes(), m) + touch_s(q, 2 * q.bytes(), m);
}

void build(const Problem& q, Builder& b) {
  b.show_buffers();
  keep_block(q, b, 0, q.rank);
  for_each_peer(q, [&](int peer) {
    b.await(peer, 1);
    b.pull(at_recv(q.recv_block(peer)), Ref::of(Space::kPeerSend, 0, peer),
           q.recv_block(peer).bytes);
  });
  b.publish(2);
  b.await_all(2);
}

}  // namespace

const Algorithm allgatherv_pull = {
    "pull", "everyone reads all send buffers", Collective::kAllgatherv, true, can_pull, seconds,
    build};

}  // namespace tutti
