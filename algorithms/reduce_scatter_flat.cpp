// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Pipelined reduce-scatter: a chunk of every block at a time through the windows; each rank stages
// what others own and reduces its own block from all windows, in rank order. Blocks of any length,
// also of different ones, of which each chunk has the same share.
// T = (chunks+1) sigma + (p-1)n handover + n gamma, blocks of n: moves the fewest bytes possible.
#include "algorithms/cost.hpp"
#include "algorithms/pipeline.hpp"

namespace tutti {
namespace {

int chunks_of(const Problem& q) {
  return parts_of_at_most(q.bytes(), parts_of_window(q).piece_bytes);
}

Applies applies(const Problem& q) {
  return fits_parts(q, parts_of_window(q), 64 * static_cast<uint64_t>(q.ranks - 1));
}

double seconds(const Problem& q, const Machine& m) {
  const uint64_t others = others_blocks_bytes(q);
  return (chunks_of(q) + 1) * sync_s(q, m) + window_write_s(q, others, m) +
         window_read_s(q, others, m) + combine_s(q.bytes(), m) + buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  const int chunks = chunks_of(q);
  const Parts parts = parts_of_window(q);
  const auto put = [&](int i) { put_pieces(q, b, parts, chunks, i); };
  const auto take = [&](int i) {
    const Range block = q.send_block(q.rank);
    const Range piece = piece_of(block, chunks, i);
    b.reduce(recv_at(piece.offset - block.offset),
             one_of_each_rank(q, send_at(piece.offset), Space::kWindow,
                              [&](int peer) { return parts.piece_at(i, q.rank, peer); }),
             piece.bytes, true, streams(q, q.bytes()));
  };
  exchange_chunks(b, chunks, put, take);
}

}  // namespace

const Algorithm reduce_scatter_flat = {
    .name = "flat",
    .summary = "everyone reduces its block from all windows, pipelined",
    .collective = Collective::kReduceScatter,
    .rank_order = true,
    .applies = applies,
    .seconds = seconds,
    .build = build};
const Algorithm reduce_scatterv_flat = {
    .name = "flat",
    .summary = "everyone reduces its block from all windows, pipelined",
    .collective = Collective::kReduceScatterv,
    .rank_order = true,
    .applies = applies,
    .seconds = seconds,
    .build = build};

}  // namespace tutti
