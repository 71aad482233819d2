// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Pipelined alltoall: a chunk of every block at a time through the windows; each rank stages what
// others get and copies what is for it from all windows. Blocks of any length.
// T = (chunks+1) sigma + (p-1)n handover, blocks of n: two copies per byte.
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
         window_read_s(q, others, m) + buffers_s(q, m) + 2.0 * chunks_of(q) * q.ranks * m.step_s;
}

void build(const Problem& q, Builder& b) {
  const int chunks = chunks_of(q);
  const Parts parts = parts_of_window(q);
  const bool stream = streams(q, all_blocks_bytes(q));
  const auto put = [&](int i) { put_pieces(q, b, parts, chunks, i); };
  const auto take = [&](int i) {
    const Range piece = part_of(q.bytes(), chunks, i);
    for (int distance = 1; distance < q.ranks; ++distance) {
      const int peer = rank_after(q, -distance);
      b.copy(recv_at(block_at(q, peer) + piece.offset),
             Ref::of(Space::kWindow, parts.piece_at(i, q.rank, peer), peer), piece.bytes, stream);
    }
    if (q.in_place) return;
    b.copy(recv_at(block_at(q, q.rank) + piece.offset), send_at(block_at(q, q.rank) + piece.offset),
           piece.bytes, stream);
  };
  exchange_chunks(b, chunks, put, take);
}

}  // namespace

const Algorithm alltoall_flat = {
    .name = "flat",
    .summary = "everyone copies its blocks from all windows, pipelined",
    .collective = Collective::kAlltoall,
    .rank_order = true,
    .applies = applies,
    .seconds = seconds,
    .build = build};

}  // namespace tutti
