// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Hierarchical reduce: within each host to the rank in the root's column, and along that column to
// the root, chunk by chunk.
// T = log2(H) alpha + n beta, or n copied within the host, whichever is longer.
#include "algorithms/hierarchical.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  return through_leaders_s(q, m) + 2 * host_sync_s(q, m);
}

Composition compose(const Problem& q) {
  Composer c(q);
  const int root_place = q.hosts->place(q.root);
  const int chunks = std::max(1, parts_of_at_most(q.bytes(), kComposedChunkBytes));
  const uint64_t longest = part_of(q.bytes(), chunks, 0).bytes + 64;
  const bool leads = c.place() == root_place;
  const bool is_root = q.rank == q.root;
  // Two sums of this host, one on its way while the next is made.
  const Ref sums[2] = {c.scratch(leads && !is_root ? longest : 0),
                       c.scratch(leads && !is_root ? longest : 0)};
  for (int i = 0; i < chunks; ++i) {
    const Range chunk = part_of(q.bytes(), chunks, i);
    const Ref sum = is_root ? recv_at(chunk.offset) : sums[i % 2];
    const bool waits = leads && !is_root && i >= 2;
    Phase phase{.collective = Collective::kReduce,
                .begins = true,
                .root = root_place,
                .count = chunk.bytes / q.element_bytes,
                .send = is_root ? given(q, chunk.offset) : send_at(chunk.offset),
                .recv = sum,
                .after = waits ? static_cast<uint32_t>(i) - 1 : 0};
    const uint32_t reduced = c.add(phase);
    if (!leads) continue;
    phase.scope = Scope::kColumn;
    phase.begins = false;
    phase.finishes = true;
    phase.root = q.hosts->host(q.root);
    phase.send = sum;
    phase.after = reduced;
    c.add(phase);
  }
  return c.take();
}

}  // namespace

const Algorithm reduce_hierarchical = {
    .name = "hierarchical",
    .summary = "to one rank of each host, and to the root, pipelined",
    .collective = Collective::kReduce,
    .rank_order = false,
    .applies = roots_column_spans_hosts,
    .seconds = seconds,
    .compose = compose};

}  // namespace tutti
