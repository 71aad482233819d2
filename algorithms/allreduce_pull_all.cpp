// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Allreduce by pulling everything: each rank reads all send buffers whole, piece by piece, and
// reduces them in rank order: one_shot and flat with single copies. In place, a piece is
// reduced when all have read it; meanwhile the next one is read. Ranks
// that can read one another's buffers. T = 2 sigma + pieces (p-1) pi + n(p-1) pull + n
// gamma, where pi is the start of a pull.
#include "algorithms/cost.hpp"
#include "algorithms/pull.hpp"

namespace tutti {
namespace {

int pieces_of(const Problem& q) {
  return std::max(1, parts_of_at_most(q.bytes(), pulled_piece(q)));
}

double seconds(const Problem& q, const Machine& m) {
  return 2 * sync_s(q, m) +
         (q.ranks - 1) * (pull_s(q, q.bytes(), m) + (pieces_of(q) - 1) * m.pull_s) +
         combine_s(q.bytes(), m) + buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  const int pieces = pieces_of(q);
  const uint64_t longest = whole_lines(part_of(q.bytes(), pieces, 0).bytes + 64);
  const auto peers = static_cast<uint64_t>(q.ranks - 1);
  const Ref first = b.scratch(peers * longest);
  const Ref second = q.in_place ? b.scratch(peers * longest) : first;
  const auto pulled = [&](int piece, int peer) {
    const int index = peer < q.rank ? peer : peer - 1;
    return (piece % 2 == 0 ? first : second).plus(static_cast<uint64_t>(index) * longest);
  };
  const auto pull = [&](int piece) {
    const Range range = part_of(q.bytes(), pieces, piece);
    for_each_peer(q, [&](int peer) {
      if (piece == 0) b.await(peer, 1);
      b.pull(pulled(piece, peer), Ref::of(Space::kPeerSend, range.offset, peer), range.bytes);
    });
    b.publish(static_cast<uint32_t>(piece) + 2);
  };
  b.show_buffers();
  pull(0);
  std::vector<Ref> sources(static_cast<size_t>(q.ranks));
  for (int piece = 0; piece < pieces; ++piece) {
    if (q.in_place ? piece + 1 < pieces : piece > 0) pull(q.in_place ? piece + 1 : piece);
    const Range range = part_of(q.bytes(), pieces, piece);
    for_each_peer(q, [&](int peer) { sources[static_cast<size_t>(peer)] = pulled(piece, peer); });
    sources[static_cast<size_t>(q.rank)] = send_at(range.offset);
    if (q.in_place) b.await_all(static_cast<uint32_t>(piece) + 2);
    b.reduce(recv_at(range.offset), sources, range.bytes, true, streams(q, q.bytes()));
  }
  if (!q.in_place) b.await_all(static_cast<uint32_t>(pieces) + 1);
}

}  // namespace

const Algorithm allreduce_pull_all = {"pull_all",
                                      "everyone reads and reduces all send buffers",
                                      Collective::kAllreduce,
                                      true,
                                      can_pull,
                                      seconds,
                                      build};

}  // namespace tutti
