// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Broadcast along a chain, in segments (chain.hpp): each rank passes what it gets to the next one,
// the last before the root to nobody. Any number of ranks, any root.
// T = (b + p-2) (alpha + n/b beta), b segments. It suits few ranks, and lengths for which circulant
// has too many rounds.
#include "algorithms/chain.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) { return chain_s(q, q.ranks - 2, 0, m); }

void build(const Problem& q, Builder& b) {
  const int segments = chain_segments(q);
  const int next = rank_after(q, 1);
  for (int i = 0; i < segments; ++i) {
    const Range segment = part_of(q.bytes(), segments, i);
    const Ref place = recv_at(segment.offset);
    if (q.rank != q.root) b.recv(rank_after(q, -1), place, segment.bytes);
    if (next != q.root) b.send(next, place, segment.bytes);
  }
}

}  // namespace

const Algorithm broadcast_chain = {.name = "chain",
                                   .summary = "messages along a chain, segmented",
                                   .collective = Collective::kBroadcast,
                                   .rank_order = true,
                                   .applies = can_be_cut,
                                   .seconds = seconds,
                                   .build = build};

}  // namespace tutti
