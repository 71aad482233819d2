// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Pipelined scatter: a chunk of every block at a time through the root's slot; each rank copies
// what is for it. Blocks of any length. T = (chunks+1) sigma + pn takeover + n handover / chunks,
// blocks of n: the root's copies bound it.
#include "algorithms/cost.hpp"
#include "algorithms/rooted.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const int chunks = slot_buffers(q).chunks_of_pieces(q);
  return (chunks + 1) * sync_s(q, m) + stage_s(others_blocks_bytes(q), m) +
         fetch_s(std::min(q.bytes(), slot_buffers(q).piece_bytes), m) + buffers_s(q, m) +
         1.0 * chunks * q.ranks * m.step_s;
}

void build(const Problem& q, Builder& b) {
  const bool non_temporal = stores_non_temporal(q, q.bytes());
  const ChunkBuffers buffers = slot_buffers(q);
  const int chunks = buffers.chunks_of_pieces(q);
  const auto put = [&](int i) { put_pieces(q, b, buffers, chunks, i); };
  const auto take = [&](int i) {
    const Range piece = part_of(q.bytes(), chunks, i);
    b.copy(recv_at(piece.offset),
           Ref::of(Space::kSlot, buffers.piece_at(i, q.rank, q.root), q.root), piece.bytes,
           non_temporal);
  };
  distribute_chunks(q, b, chunks, put, take);
  if (q.rank == q.root) keep_block(q, b, q.rank, 0);
}

}  // namespace

const Algorithm scatter_flat = {
    .name = "flat",
    .summary = "each rank copies its block from the root's slot, pipelined",
    .collective = Collective::kScatter,
    .rank_order = true,
    .applies = fits_pieces<slot_buffers>,
    .seconds = seconds,
    .build = build};

}  // namespace tutti
