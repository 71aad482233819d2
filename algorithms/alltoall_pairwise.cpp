// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Pairwise alltoall: in step i a rank sends to the rank i after it and receives from the one i
// before. Any number of ranks. T = (p-1) (alpha + n beta), blocks of n; between hosts, where the
// messages are on the way at once, half of (p-1) alpha.
#include "algorithms/cost.hpp"
#include "algorithms/messages.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  return messages_s(peers_by_messages(q), q.bytes(), m) + buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  for (int i = 1; i < q.ranks; ++i) {
    b.send(rank_after(q, i), send_at(block_at(q, rank_after(q, i))), q.bytes());
  }
  copy_block_to_self(q, b);
  Arrivals arrivals(q, b);
  for (int i = 1; i < q.ranks; ++i) {
    const int peer = rank_after(q, -i);
    b.recv(peer, arrivals.place_for(q.recv_block(peer)), q.bytes());
  }
  arrivals.land();
}

}  // namespace

const Algorithm alltoall_pairwise = {.name = "pairwise",
                                     .summary = "messages between all pairs",
                                     .collective = Collective::kAlltoall,
                                     .rank_order = true,
                                     .applies = always,
                                     .seconds = seconds,
                                     .build = build};

}  // namespace tutti
