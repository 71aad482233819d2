// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Allreduce by pulling everything: one_shot and flat with single copies. Each rank reads all send
// buffers whole, piece by piece, and reduces them in rank order. In place, a piece is reduced when
// all have read it; meanwhile the next one is read. Ranks that can read one another's buffers. T =
// 2 sigma + pieces (p-1) pi + n(p-1) pull + n gamma, where pi is the start of a pull. If all see
// all buffers, T = 2 sigma + n(p-1) handover + n gamma.
#include "algorithms/cost.hpp"
#include "algorithms/pull.hpp"

namespace tutti {
namespace {

int pieces_of(const Problem& q) {
  const uint64_t longest = q.limits.maps_peers ? kPulledBytes : pulled_piece(q);
  return std::max(1, parts_of_at_most(q.bytes(), longest));
}

double seconds(const Problem& q, const Machine& m) {
  return 2 * sync_s(q, m) +
         (q.ranks - 1) * (pull_s(q, q.bytes(), m) + (pieces_of(q) - 1) * m.pull_s) +
         combine_s(q.bytes(), m) + buffers_s(q, m);
}

// Reduces where all see all buffers. In place, a piece's result is put aside until all have read
// the piece, while the next one is reduced.
void reduce_where_it_lies(const Problem& q, Builder& b) {
  const int pieces = pieces_of(q);
  const uint64_t longest = whole_lines(part_of(q.bytes(), pieces, 0).bytes + 64);
  const Ref halves[] = {b.scratch(q.in_place ? longest : 0), b.scratch(q.in_place ? longest : 0)};
  const bool non_temporal = stores_non_temporal(q, q.bytes());
  const auto finish = [&](int piece) {
    const Range range = part_of(q.bytes(), pieces, piece);
    b.await_all(static_cast<uint32_t>(piece) + 2);
    b.copy(recv_at(range.offset), halves[piece % 2], range.bytes, non_temporal);
  };
  b.export_buffers();
  b.await_all(1);
  for (int piece = 0; piece < pieces; ++piece) {
    const Range range = part_of(q.bytes(), pieces, piece);
    const Ref dst = q.in_place ? halves[piece % 2] : recv_at(range.offset);
    b.reduce(dst, one_of_each_rank(q, send_at(range.offset), Space::kPeerSend, range.offset),
             range.bytes, true, non_temporal && !q.in_place);
    b.publish(static_cast<uint32_t>(piece) + 2);
    if (q.in_place && piece > 0) finish(piece - 1);
  }
  if (q.in_place) return finish(pieces - 1);
  b.await_all(static_cast<uint32_t>(pieces) + 1);
}

void build(const Problem& q, Builder& b) {
  if (q.limits.maps_peers) return reduce_where_it_lies(q, b);
  const int pieces = pieces_of(q);
  const uint64_t longest = whole_lines(part_of(q.bytes(), pieces, 0).bytes + 64);
  // In place, a piece is pulled ahead of the one that is reduced. Otherwise the nearest peer's
  // lands where the result will be.
  const auto room = static_cast<uint64_t>(std::max(0, q.ranks - (q.in_place ? 1 : 2))) * longest;
  const Ref halves[] = {b.scratch(room), b.scratch(q.in_place ? room : 0)};
  const auto place_of = [&](int piece, int peer) {
    auto index = static_cast<uint64_t>((peer - q.rank + q.ranks) % q.ranks - 1);
    if (q.in_place) return halves[piece % 2].plus(index * longest);
    if (index == 0) return recv_at(part_of(q.bytes(), pieces, piece).offset);
    return halves[0].plus((index - 1) * longest);
  };
  const auto pull = [&](int piece) {
    const Range range = part_of(q.bytes(), pieces, piece);
    for_each_peer(q, [&](int peer) {
      if (piece == 0) b.await(peer, 1);
      b.pull(place_of(piece, peer), Ref::of(Space::kPeerSend, range.offset, peer), range.bytes);
    });
    b.publish(static_cast<uint32_t>(piece) + 2);
  };
  const auto reduce = [&](int piece) {
    const Range range = part_of(q.bytes(), pieces, piece);
    std::vector<Ref> sources(static_cast<size_t>(q.ranks), send_at(range.offset));
    for_each_peer(q, [&](int peer) { sources[static_cast<size_t>(peer)] = place_of(piece, peer); });
    b.reduce(recv_at(range.offset), sources, range.bytes, true, stores_non_temporal(q, q.bytes()));
  };
  b.export_buffers();
  pull(0);
  for (int piece = 0; piece < pieces; ++piece) {
    if (q.in_place) {
      if (piece + 1 < pieces) pull(piece + 1);
      b.await_all(static_cast<uint32_t>(piece) + 2);
    } else if (piece > 0) {
      pull(piece);
    }
    reduce(piece);
  }
  if (!q.in_place) b.await_all(static_cast<uint32_t>(pieces) + 1);
}

}  // namespace

const Algorithm allreduce_pull_all = {.name = "pull_all",
                                      .summary = "everyone reads and reduces all send buffers",
                                      .collective = Collective::kAllreduce,
                                      .rank_order = true,
                                      .applies = can_pull,
                                      .seconds = seconds,
                                      .build = build};

}  // namespace tutti
