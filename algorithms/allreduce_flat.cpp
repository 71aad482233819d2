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

int chunks_of(const Problem& q) {
  return parts_of_at_most(q.bytes(), parts_of_window(q).chunk_bytes);
}

Applies applies(const Problem& q) { return fits_parts(q, parts_of_window(q), 64); }

double seconds(const Problem& q, const Machine& m) {
  return (chunks_of(q) + 1) * sync_s(q, m) + window_write_s(q, q.bytes(), m) +
         window_read_s(q, others_blocks_bytes(q), m) + combine_s(q.bytes(), m) + buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  const int chunks = chunks_of(q);
  const Parts parts = parts_of_window(q);
  const bool stream = streams(q, q.bytes());
  const auto put = [&](int i) { put_chunk(q, b, parts, chunks, i, send_at(0)); };
  const auto take = [&](int i) {
    const Range chunk = part_of(q.bytes(), chunks, i);
    b.reduce(recv_at(chunk.offset),
             one_of_each_rank(q, send_at(chunk.offset), Space::kWindow, parts.at(i)), chunk.bytes,
             true, stream);
  };
  exchange_chunks(b, chunks, put, take);
}

}  // namespace

const Algorithm allreduce_flat = {
    .name = "flat",
    .summary = "one_shot for any length, pipelined through the windows",
    .collective = Collective::kAllreduce,
    .rank_order = true,
    .applies = applies,
    .seconds = seconds,
    .build = build};

}  // namespace tutti
