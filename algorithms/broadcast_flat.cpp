// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Pipelined broadcast: chunk by chunk through the root's slot, all others copy out. Any length.
// T = sigma + (n + chunk) handover: filling overlaps copying out, but for the first chunk.
#include "algorithms/cost.hpp"
#include "algorithms/rooted.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const int chunks = slot_buffers(q).chunks(q);
  return sync_s(q, m) + slot_write_s(q, std::min(q.bytes(), slot_buffers(q).chunk_bytes), m) +
         slot_read_s(q, q.bytes(), m) + buffers_s(q, m) + chunks * m.line_s;
}

void build(const Problem& q, Builder& b) {
  const ChunkBuffers buffers = slot_buffers(q);
  const int chunks = buffers.chunks(q);
  const auto put = [&](int i) { put_chunk(q, b, buffers, chunks, i, recv_at(0)); };
  const auto take = [&](int i) {
    const Range chunk = part_of(q.bytes(), chunks, i);
    b.copy(recv_at(chunk.offset), Ref::of(Space::kSlot, buffers.at(i), q.root), chunk.bytes,
           stores_non_temporal(q, q.bytes()));
  };
  distribute_chunks(q, b, chunks, put, take);
}

}  // namespace

const Algorithm broadcast_flat = {.name = "flat",
                                  .summary = "everyone copies from the root's slot, pipelined",
                                  .collective = Collective::kBroadcast,
                                  .rank_order = true,
                                  .applies = fits_chunks<slot_buffers>,
                                  .seconds = seconds,
                                  .build = build};

}  // namespace tutti
