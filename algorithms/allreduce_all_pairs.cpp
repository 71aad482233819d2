// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// All-pairs allreduce: rank j owns slice j, gets everyone's, reduces them in rank order and sends
// the result to all. Any number of ranks. It gives the same bits as the algorithms of shared
// memory. T = 2(p-1) alpha + 2n(p-1)/p beta + n gamma: as many messages as a ring, but they do not
// wait for one another.
#include "algorithms/all_pairs.hpp"
#include "algorithms/cost.hpp"

namespace tutti {
namespace {

// A long message passes in pieces, which bounds the private memory.
uint64_t piece_bytes(const Problem& q) { return kSegmentBytes * static_cast<uint64_t>(q.ranks); }

// Between hosts, lines are idle while each waits for the other's segment, and what several send to
// one at once is dropped at times.
constexpr double kIdleLinesFactor = 1.25;

double seconds(const Problem& q, const Machine& m) {
  const uint64_t slice = q.bytes() / static_cast<uint64_t>(q.ranks);
  const int pieces = std::max(1, parts_of_at_most(q.bytes(), piece_bytes(q)));
  const double moved = 2.0 * (q.ranks - 1) * static_cast<double>(slice) * m.message_byte_s;
  return 2 * (q.ranks - 1) * (start_s(slice, m) + (pieces - 1) * m.message_s) +
         moved * (m.host != nullptr ? kIdleLinesFactor : 1) + combine_s(q.bytes(), m) +
         buffers_s(q, m);
}

void reduce_piece(const Problem& q, Builder& b, Ref arrived, Range piece) {
  const auto slice_of = [&](int rank) {
    const Range slice = part_of(piece.bytes, q.ranks, rank);
    return Range{piece.offset + slice.offset, slice.bytes};
  };
  const Range mine = slice_of(q.rank);
  reduce_from_all(
      q, b, arrived, recv_at(mine.offset), [&](int rank) { return send_at(slice_of(rank).offset); },
      [&](int rank) { return slice_of(rank).bytes; });
  for (int i = 1; i < q.ranks; ++i) {
    b.send(rank_after(q, i), recv_at(mine.offset), mine.bytes);
  }
  for (int i = 1; i < q.ranks; ++i) {
    const int owner = rank_after(q, -i);
    b.recv(owner, recv_at(slice_of(owner).offset), slice_of(owner).bytes);
  }
}

void build(const Problem& q, Builder& b) {
  const int pieces = parts_of_at_most(q.bytes(), piece_bytes(q));
  const Ref arrived =
      b.scratch(std::min(q.bytes() + 64 * static_cast<uint64_t>(q.ranks), piece_bytes(q)));
  for (int i = 0; i < pieces; ++i) {
    reduce_piece(q, b, arrived, part_of(q.bytes(), pieces, i));
  }
}

}  // namespace

const Algorithm allreduce_all_pairs = {.name = "all_pairs",
                                       .summary = "messages to the owner of each slice and back",
                                       .collective = Collective::kAllreduce,
                                       .rank_order = true,
                                       .applies = always,
                                       .seconds = seconds,
                                       .build = build};

}  // namespace tutti
