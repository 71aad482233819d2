// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Reduce along a chain, in segments (chain.hpp). The last rank passes its data to the one before
// it. Each adds its own in front and passes the sum on, down to rank 0, which passes the result on
// to the root. So ranks are combined in ascending order whatever the root. Any number of ranks, any
// root; adds from the last rank on. T = (b + p-2) (alpha + n/b (beta + gamma)), b segments; one
// alpha + n/b beta more if the root is not 0. It suits few ranks, and lengths for which circulant
// has too many rounds.
#include "algorithms/chain.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  return chain_s(q, q.ranks - 2 + (q.root == 0 ? 0 : 1), 2 * q.bytes(), m);
}

void build(const Problem& q, Builder& b) {
  const int segments = chain_segments(q);
  const bool last = q.rank == q.ranks - 1;
  const bool keeps = q.rank == 0 && q.root == 0;
  const bool gets_results = q.rank == q.root && !keeps;
  // In place, results land where the last rank sends from.
  const bool lands_on_source = gets_results && last && q.in_place;
  const uint64_t most = part_of(q.bytes(), segments, 0).bytes + 64;
  Places arrived(b, last ? 0 : most);
  Places sums(b, last || keeps ? 0 : most);
  const auto segment = [&](int i) { return part_of(q.bytes(), segments, i); };
  const auto get_result = [&](int i) {
    if (i >= 0) b.recv(0, recv_at(segment(i).offset), segment(i).bytes);
  };
  for (int i = 0; i < segments; ++i) {
    // Places of sums are used again.
    if (i % kSegmentPlaces == 0 && (!last || lands_on_source)) b.fence();
    const auto [offset, bytes] = segment(i);
    Ref sum = send_at(offset);
    if (!last) {
      const Ref from_above = arrived.next();
      b.recv(q.rank + 1, from_above, bytes);
      sum = keeps ? recv_at(offset) : sums.next();
      b.reduce(sum, {send_at(offset), from_above}, bytes, q.rank == 0);
    }
    if (!keeps) b.send(q.rank == 0 ? q.root : q.rank - 1, sum, bytes);
    // Later, rank 0 might never get to its next segment.
    if (gets_results) get_result(i - kSegmentPlaces);
  }
  if (!gets_results) return;
  for (int i = segments - kSegmentPlaces; i < segments; ++i) {
    // Not before rank 0 has got rid of the results that came before the last fence.
    if (i == (segments - 1) / kSegmentPlaces * kSegmentPlaces && lands_on_source) b.fence();
    get_result(i);
  }
}

}  // namespace

const Algorithm reduce_chain = {.name = "chain",
                                .summary = "messages along a chain, segmented",
                                .collective = Collective::kReduce,
                                .rank_order = false,
                                .applies = can_be_cut,
                                .seconds = seconds,
                                .build = build};

}  // namespace tutti
