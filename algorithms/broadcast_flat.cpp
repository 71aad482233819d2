// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Pipelined broadcast: chunk by chunk through the root's window, all others copy out. Any length.
// T = 2 sigma + (n + chunk) handover: filling overlaps copying out, but for the first chunk.
#include "algorithms/cost.hpp"
#include "algorithms/rooted.hpp"

namespace tutti {
namespace {

int chunks_of(const Problem& q) { return parts_of_at_most(q.bytes(), chunk_limit(q)); }

Applies applies(const Problem& q) { return fits_window(q, 64); }

double seconds(const Problem& q, const Machine& m) {
  return 2 * sync_s(q, m) + window_write_s(q, std::min(q.bytes(), chunk_limit(q)), m) +
         window_read_s(q, q.bytes(), m) + buffers_s(q, m) + chunks_of(q) * m.line_s;
}

void build(const Problem& q, Builder& b) {
  const int chunks = chunks_of(q);
  const auto put = [&](int i) { put_chunk(q, b, chunks, i, recv_at(0)); };
  const auto take = [&](int i) {
    const Range chunk = part_of(q.bytes(), chunks, i);
    b.copy(recv_at(chunk.offset), Ref::of(Space::kWindow, part_at(q, i), q.root), chunk.bytes,
           streams(q, q.bytes()));
  };
  distribute_chunks(q, b, chunks, put, take);
}

}  // namespace

const Algorithm broadcast_flat = {"flat",
                                  "everyone copies from the root's window, pipelined",
                                  Collective::kBroadcast,
                                  true,
                                  applies,
                                  seconds,
                                  build};

}  // namespace tutti
