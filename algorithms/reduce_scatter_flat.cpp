// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Pipelined reduce-scatter: a chunk of every block at a time through the windows. Each rank stages
// what others own and reduces its own block from all windows, in rank order. Blocks of any length,
// also of different ones, of which each chunk has the same share. T = (chunks+1) sigma + (p-1)n
// handover + n gamma, blocks of n: moves the fewest bytes possible.
#include "algorithms/cost.hpp"
#include "algorithms/pipeline.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const int chunks = window_buffers(q).chunks_of_pieces(q);
  const uint64_t others = others_blocks_bytes(q);
  return (chunks + 1) * sync_s(q, m) + window_write_s(q, others, m) + window_read_s(q, others, m) +
         combine_s(q.bytes(), m) + buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  const ChunkBuffers buffers = window_buffers(q);
  const int chunks = buffers.chunks_of_pieces(q);
  const auto put = [&](int i) { put_pieces(q, b, buffers, chunks, i); };
  const auto take = [&](int i) {
    const Range block = q.send_block(q.rank);
    const Range piece = piece_of(block, chunks, i);
    b.reduce(recv_at(piece.offset - block.offset),
             one_of_each_rank(q, send_at(piece.offset), Space::kWindow,
                              [&](int peer) { return buffers.piece_at(i, q.rank, peer); }),
             piece.bytes, true, stores_non_temporal(q, q.bytes()));
  };
  exchange_chunks(b, chunks, put, take);
}

}  // namespace

constexpr Algorithm reduce_scatter_flat = {
    .name = "flat",
    .summary = "everyone reduces its block from all windows, pipelined",
    .collective = Collective::kReduceScatter,
    .rank_order = true,
    .applies = fits_pieces<window_buffers>,
    .seconds = seconds,
    .build = build};
constexpr Algorithm reduce_scatterv_flat = reduce_scatter_flat.of(Collective::kReduceScatterv);

}  // namespace tutti
