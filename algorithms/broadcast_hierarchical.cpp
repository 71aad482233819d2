// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Hierarchical broadcast: along the root's column to one rank of every host, and within each host
// from there, chunk by chunk. If the root is in no column, its host comes first.
// T = log2(H) alpha + n beta, or n copied within the host, whichever is longer.
#include "algorithms/hierarchical.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  return through_leaders_s(q, m) + host_sync_s(q, m);
}

Composition compose(const Problem& q) {
  Composer c(q);
  const int root_host = q.hosts->host(q.root);
  const int root_place = q.hosts->place(q.root);
  const int leader = root_place < c.columns() ? root_place : 0;
  const bool at_root_host = c.host() == root_host;
  const int chunks = std::max(1, parts_of_at_most(q.bytes(), kComposedChunkBytes));
  for (int i = 0; i < chunks; ++i) {
    const Range chunk = part_of(q.bytes(), chunks, i);
    const auto number = static_cast<uint32_t>(i) + 1;
    Phase phase{.collective = Collective::kBroadcast,
                .count = chunk.bytes / q.element_bytes,
                .recv = recv_at(chunk.offset)};
    if (c.place() == leader) {
      Phase column = phase;
      column.scope = Scope::kColumn;
      column.root = root_host;
      column.after = at_root_host && leader != root_place ? number : 0;
      c.add(column);
    }
    phase.root = at_root_host ? root_place : leader;
    phase.after = c.place() == leader && !at_root_host ? number : 0;
    c.add(phase);
  }
  return c.take();
}

}  // namespace

const Algorithm broadcast_hierarchical = {
    .name = "hierarchical",
    .summary = "to one rank of each host, and from there, pipelined",
    .collective = Collective::kBroadcast,
    .rank_order = true,
    .applies = spans_hosts,
    .seconds = seconds,
    .compose = compose};

}  // namespace tutti
