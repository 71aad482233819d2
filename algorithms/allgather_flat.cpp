// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Pipelined allgather: chunk by chunk through the windows, everyone copies from all others. Blocks
// of any length, also of different ones, of which each chunk has the same share.
// T = (chunks+1) sigma + (p-1)n handover: two copies per byte, the fewest through shared memory.
#include "algorithms/cost.hpp"
#include "algorithms/pipeline.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const int chunks = window_buffers(q).chunks(q);
  return (chunks + 1) * sync_s(q, m) + window_write_s(q, q.bytes(), m) +
         window_read_s(q, others_blocks_bytes(q), m) + buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  const ChunkBuffers buffers = window_buffers(q);
  const int chunks = buffers.chunks(q);
  const bool non_temporal = stores_non_temporal(q, all_blocks_bytes(q));
  const Range own = q.send_block(0);
  const auto put = [&](int i) {
    const Range piece = piece_of(own, chunks, i);
    b.copy(Ref::of(Space::kWindow, buffers.at(i), q.rank), at_send(piece), piece.bytes);
  };
  const auto take = [&](int i) {
    copy_of_own_block(q, b, piece_of(own, chunks, i));
    for (int distance = 1; distance < q.ranks; ++distance) {
      const int peer = rank_after(q, distance);
      const Range piece = piece_of(q.recv_block(peer), chunks, i);
      b.copy(at_recv(piece), Ref::of(Space::kWindow, buffers.at(i), peer), piece.bytes,
             non_temporal);
    }
  };
  exchange_chunks(b, chunks, put, take);
}

}  // namespace

constexpr Algorithm allgather_flat = {.name = "flat",
                                      .summary = "everyone copies from all windows, pipelined",
                                      .collective = Collective::kAllgather,
                                      .rank_order = true,
                                      .applies = fits_chunks<window_buffers>,
                                      .seconds = seconds,
                                      .build = build};
constexpr Algorithm allgatherv_flat = allgather_flat.of(Collective::kAllgatherv);

}  // namespace tutti
