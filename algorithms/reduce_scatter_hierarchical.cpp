// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Hierarchical reduce-scatter with as many leaders as ranks. For each host, the ranks here reduce
// what its ranks shall have, each the block of the one at its own place. Then each column reduces
// along itself. T = (H-1) alpha + n (H-1) beta, and n p copied within the host; n bytes per rank.
#include "algorithms/hierarchical.hpp"

namespace tutti {
namespace {

Composition compose(const Problem& q) {
  Composer c(q);
  const auto place = static_cast<size_t>(c.place());
  // The layout by host.
  BlockLayout packed;
  uint64_t begin = 0;
  const Ref first = c.scratch(0);
  uint32_t reduced = 0;
  for (int host = 0; host < c.hosts(); ++host) {
    const BlockLayout blocks = layout_of_ranks(q, q.hosts->ranks_of[static_cast<size_t>(host)],
                                               [&q](int rank) { return q.send_block(rank); });
    const uint64_t count = blocks.counts[place];
    packed.counts.push_back(count);
    packed.offsets.push_back(begin);
    reduced = c.add({.collective = Collective::kReduceScatterv,
                     .begins = true,
                     .count = *std::max_element(blocks.counts.begin(), blocks.counts.end()),
                     .layouts = {blocks, {{count}, {0}}},
                     .send = send_at(0),
                     .recv = first.plus(begin * q.element_bytes)});
    begin += count;
  }
  c.scratch(begin * q.element_bytes);
  const uint64_t own = packed.counts[static_cast<size_t>(c.host())];
  c.add({.scope = Scope::kColumn,
         .collective = Collective::kReduceScatterv,
         .finishes = true,
         .count = *std::max_element(packed.counts.begin(), packed.counts.end()),
         .layouts = {packed, {{own}, {0}}},
         .send = first,
         .recv = recv_at(0),
         .after = reduced});
  return c.take();
}

}  // namespace

constexpr Algorithm reduce_scatter_hierarchical = {.name = "hierarchical",
                                                   .summary = "within hosts, then along columns",
                                                   .collective = Collective::kReduceScatter,
                                                   .rank_order = false,
                                                   .applies = spans_even_hosts,
                                                   .seconds = along_columns_s,
                                                   .compose = compose};
constexpr Algorithm reduce_scatterv_hierarchical =
    reduce_scatter_hierarchical.of(Collective::kReduceScatterv);

}  // namespace tutti
