// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Pipelined alltoall: a chunk of every block at a time through the windows. Each rank stages what
// others get and copies what is for it from all windows. Blocks of any length. T = (chunks+1) sigma
// + (p-1)n handover, blocks of n: two copies per byte.
#include "algorithms/cost.hpp"
#include "algorithms/pipeline.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const int chunks = window_buffers(q).chunks_of_pieces(q);
  const uint64_t others = others_blocks_bytes(q);
  return (chunks + 1) * sync_s(q, m) + window_write_s(q, others, m) + window_read_s(q, others, m) +
         buffers_s(q, m) + 2.0 * chunks * q.ranks * m.step_s;
}

void build(const Problem& q, Builder& b) {
  const ChunkBuffers buffers = window_buffers(q);
  const int chunks = buffers.chunks_of_pieces(q);
  const bool non_temporal = stores_non_temporal(q, all_blocks_bytes(q));
  const auto put = [&](int i) { put_pieces(q, b, buffers, chunks, i); };
  const auto take = [&](int i) {
    const Range piece = part_of(q.bytes(), chunks, i);
    for (int distance = 1; distance < q.ranks; ++distance) {
      const int peer = rank_after(q, -distance);
      b.copy(recv_at(block_at(q, peer) + piece.offset),
             Ref::of(Space::kWindow, buffers.piece_at(i, q.rank, peer), peer), piece.bytes,
             non_temporal);
    }
    if (q.in_place) return;
    b.copy(recv_at(block_at(q, q.rank) + piece.offset), send_at(block_at(q, q.rank) + piece.offset),
           piece.bytes, non_temporal);
  };
  exchange_chunks(b, chunks, put, take);
}

}  // namespace

const Algorithm alltoall_flat = {
    .name = "flat",
    .summary = "everyone copies its blocks from all windows, pipelined",
    .collective = Collective::kAlltoall,
    .rank_order = true,
    .applies = fits_pieces<window_buffers>,
    .seconds = seconds,
    .build = build};

}  // namespace tutti
