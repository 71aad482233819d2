// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Pipelined one-shot allreduce: chunk by chunk through the windows, everyone reads all and reduces
// everything, in rank order. Any length.
// T = (chunks+1) sigma + (p-1)n handover + n gamma. It moves as many bytes as two_shot when there
// are two ranks, with one synchronisation less and in longer runs.
#include "algorithms/cost.hpp"
#include "algorithms/pipeline.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const int chunks = window_buffers(q).chunks(q);
  return (chunks + 1) * sync_s(q, m) + window_write_s(q, q.bytes(), m) +
         window_read_s(q, others_blocks_bytes(q), m) + combine_s(q.bytes(), m) + buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  const ChunkBuffers buffers = window_buffers(q);
  const int chunks = buffers.chunks(q);
  const bool non_temporal = stores_non_temporal(q, q.bytes());
  const auto put = [&](int i) { put_chunk(q, b, buffers, chunks, i, send_at(0)); };
  const auto take = [&](int i) {
    const Range chunk = part_of(q.bytes(), chunks, i);
    b.reduce(recv_at(chunk.offset),
             one_of_each_rank(q, send_at(chunk.offset), Space::kWindow, buffers.at(i)), chunk.bytes,
             true, non_temporal);
  };
  exchange_chunks(b, chunks, put, take);
}

}  // namespace

const Algorithm allreduce_flat = {
    .name = "flat",
    .summary = "one_shot for any length, pipelined through the windows",
    .collective = Collective::kAllreduce,
    .rank_order = true,
    .applies = fits_chunks<window_buffers>,
    .seconds = seconds,
    .build = build};

}  // namespace tutti
