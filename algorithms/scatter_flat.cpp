// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Pipelined scatter: a chunk of every block at a time through the root's slot; each rank copies
// what is for it. Blocks of any length. T = (chunks+1) sigma + pn takeover + n handover / chunks,
// blocks of n: the root's copies bound it.
#include "algorithms/cost.hpp"
#include "algorithms/rooted.hpp"

namespace tutti {
namespace {

int chunks_of(const Problem& q) {
  return parts_of_at_most(q.bytes(), parts_of_slot(q).piece_bytes);
}

Applies applies(const Problem& q) {
  return fits_parts(q, parts_of_slot(q), 64 * static_cast<uint64_t>(q.ranks - 1));
}

double seconds(const Problem& q, const Machine& m) {
  return (chunks_of(q) + 1) * sync_s(q, m) + stage_s(others_blocks_bytes(q), m) +
         fetch_s(std::min(q.bytes(), parts_of_slot(q).piece_bytes), m) + buffers_s(q, m) +
         1.0 * chunks_of(q) * q.ranks * m.step_s;
}

void build(const Problem& q, Builder& b) {
  const int chunks = chunks_of(q);
  const bool stream = streams(q, q.bytes());
  const Parts parts = parts_of_slot(q);
  const auto put = [&](int i) { put_pieces(q, b, parts, chunks, i); };
  const auto take = [&](int i) {
    const Range piece = part_of(q.bytes(), chunks, i);
    b.copy(recv_at(piece.offset), Ref::of(Space::kSlot, parts.piece_at(i, q.rank, q.root), q.root),
           piece.bytes, stream);
  };
  distribute_chunks(q, b, chunks, put, take);
  if (q.rank == q.root) keep_own_block(q, b);
}

}  // namespace

const Algorithm scatter_flat = {
    .name = "flat",
    .summary = "each rank copies its block from the root's slot, pipelined",
    .collective = Collective::kScatter,
    .rank_order = true,
    .applies = applies,
    .seconds = seconds,
    .build = build};

}  // namespace tutti
