// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Pipelined reduce: chunk by chunk through the slots, the root reduces from all, in rank order.
// Any length. T = (chunks+1) sigma + (p-1)n handover + n gamma: two copies per byte.
#include "algorithms/cost.hpp"
#include "algorithms/rooted.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const int chunks = slot_buffers(q).chunks(q);
  // The root's own data comes from memory while it waits for the lines of the slots.
  const double work = slot_read_s(q, others_blocks_bytes(q), m) + combine_s(q.bytes(), m) +
                      touch_s(q, q.bytes(), m);
  return (chunks + 1) * sync_s(q, m) +
         slot_write_s(q, std::min(q.bytes(), slot_buffers(q).chunk_bytes), m) + root_s(q, work, m);
}

void build(const Problem& q, Builder& b) {
  const ChunkBuffers buffers = slot_buffers(q);
  const int chunks = buffers.chunks(q);
  const auto put = [&](int i) { put_chunk(q, b, buffers, chunks, i, send_at(0)); };
  const auto take = [&](int i) {
    const Range chunk = part_of(q.bytes(), chunks, i);
    b.reduce(recv_at(chunk.offset),
             one_of_each_rank(q, send_at(chunk.offset), Space::kSlot, buffers.at(i)), chunk.bytes,
             true, stores_non_temporal(q, q.bytes()));
  };
  collect_chunks(
      q, b, chunks, put, [](int) {}, take);
}

}  // namespace

const Algorithm reduce_flat = {.name = "flat",
                               .summary = "the root reduces from all slots, pipelined",
                               .collective = Collective::kReduce,
                               .rank_order = true,
                               .applies = fits_chunks<slot_buffers>,
                               .seconds = seconds,
                               .build = build};

}  // namespace tutti
