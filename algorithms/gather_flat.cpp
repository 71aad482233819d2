// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Pipelined gather: chunk by chunk through the slots, the root copies from all. Blocks of any
// length. T = (chunks+1) sigma + (p-1)n handover, blocks of n: two copies per byte.
#include "algorithms/cost.hpp"
#include "algorithms/rooted.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const int chunks = slot_buffers(q).chunks(q);
  return (chunks + 1) * sync_s(q, m) +
         slot_write_s(q, std::min(q.bytes(), slot_buffers(q).chunk_bytes), m) +
         slot_read_s(q, others_blocks_bytes(q), m) + buffers_s(q, m) +
         1.0 * chunks * q.ranks * m.step_s;
}

void build(const Problem& q, Builder& b) {
  const bool non_temporal = stores_non_temporal(q, all_blocks_bytes(q));
  const ChunkBuffers buffers = slot_buffers(q);
  const int chunks = buffers.chunks(q);
  const auto put = [&](int i) { put_chunk(q, b, buffers, chunks, i, send_at(0)); };
  const auto take = [&](int i) {
    const Range chunk = part_of(q.bytes(), chunks, i);
    for (int distance = 1; distance < q.ranks; ++distance) {
      const int peer = rank_after(q, distance);
      b.copy(recv_at(block_at(q, peer) + chunk.offset), Ref::of(Space::kSlot, buffers.at(i), peer),
             chunk.bytes, non_temporal);
    }
  };
  // Chunks that the slots hold at once are written there while the root keeps its own block. A
  // longer own block is kept chunk by chunk: else the others would be done with the slots, and
  // wait.
  const int pieces = chunks <= buffers.count ? 1 : chunks;
  const auto keep = [&](int i) {
    if (i < pieces) copy_of_own_block(q, b, part_of(q.bytes(), pieces, i));
  };
  collect_chunks(q, b, chunks, put, keep, take);
}

}  // namespace

const Algorithm gather_flat = {.name = "flat",
                               .summary = "the root copies from all slots, pipelined",
                               .collective = Collective::kGather,
                               .rank_order = true,
                               .applies = fits_chunks<slot_buffers>,
                               .seconds = seconds,
                               .build = build};

}  // namespace tutti
