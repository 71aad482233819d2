// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Allgather by parallel aggregated trees (pat.hpp). Any number of ranks. T = ceil(log2 p) alpha +
// (p-1)n beta, blocks of n, and two copies of all of them. It is like bruck, but its long messages
// go to near ranks. Longer blocks cost up to (p-1) alpha for each kSegmentBytes of them, so private
// memory for them stays small.
#include "algorithms/pat.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const uint64_t segment = std::min(q.bytes(), kSegmentBytes);
  const bool packs = Pat(q.ranks, segment).most() > 1;
  const uint64_t others = others_blocks_bytes(q);
  return pat_messages_s(q, m) + (packs ? 2 * copy_s(others, m) + 2 * q.ranks * m.step_s : 0) +
         buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  copy_own_block(q, b);
  const Pat pat(q.ranks, std::min(q.bytes(), kSegmentBytes));
  const uint64_t most = q.bytes() * static_cast<uint64_t>(pat.most());
  const bool packs = pat.most() > 1;
  Places given(b, packs ? most : 0);
  Places taken(b, packs ? most : 0);
  int packed = 0;
  const auto own_at = [&](int depth, Range segment) {
    return recv_at(block_at(q, rank_after(q, -depth)) + segment.offset);
  };
  for (const PatRound& round : pat.all()) {
    const int to = rank_after(q, round.distance);
    const int from = rank_after(q, -round.distance);
    if (round.depths.size() == 1) {
      const int depth = round.depths[0];
      for_each_segment({0, q.bytes()}, [&](Range segment) {
        b.send(to, own_at(depth - round.distance, segment), segment.bytes);
      });
      for_each_segment({0, q.bytes()},
                       [&](Range segment) { b.recv(from, own_at(depth, segment), segment.bytes); });
      continue;
    }
    if (packed > 0 && packed % kSegmentPlaces == 0) b.fence();  // the places are used again
    ++packed;
    const Range block{0, q.bytes()};
    const uint64_t bytes = round.depths.size() * q.bytes();
    const Ref parcel = given.next();
    for (size_t i = 0; i < round.depths.size(); ++i) {
      b.copy(parcel.plus(i * q.bytes()), own_at(round.depths[i] - round.distance, block),
             q.bytes());
    }
    b.send(to, parcel, bytes);
    const Ref arrived = taken.next();
    b.recv(from, arrived, bytes);
    for (size_t i = 0; i < round.depths.size(); ++i) {
      b.copy(own_at(round.depths[i], block), arrived.plus(i * q.bytes()), q.bytes());
    }
  }
}

}  // namespace

const Algorithm allgather_pat = {
    .name = "pat",
    .summary = "messages down a tree for each block, far first, many in one",
    .collective = Collective::kAllgather,
    .rank_order = true,
    .applies = always,
    .seconds = seconds,
    .build = build};

}  // namespace tutti
