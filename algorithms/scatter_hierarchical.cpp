// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Hierarchical scatter: all blocks of a host in one message from the root to the rank in its
// column, and from there within the host. T = H alpha / 2 + (H-1) n L beta, blocks of n, all of it
// at the root. One phase within the host adds alpha/32, n L copied. L times fewer messages than
// direct, as many bytes: it suits short and middle blocks.
//
// There is none of scatterv, for the reason given in gather_hierarchical.cpp.
#include "algorithms/roots_column.hpp"

namespace tutti {
namespace {

Composition compose(const Problem& q) {
  Composer c(q);
  const RootsColumn column(q, c, send_at(0));
  uint32_t arrived = 0;
  if (column.repacks) {
    arrived =
        c.add({.scope = Scope::kColumn, .moves = column.blocks.pack(column.packed, send_at(0))});
  }
  if (column.leads) {
    Phase across = column.phase(Collective::kScatterv);
    across.layouts = {column.by_host(), column.own()};
    const uint32_t scattered = c.add(std::move(across));
    if (!column.at_root) arrived = scattered;
  }
  const bool stays_there = column.at_root && q.in_place;
  c.add({.collective = Collective::kScatter,
         .root = column.place,
         .count = q.count,
         .send = column.of_this_host(),
         .recv = stays_there ? send_at(block_at(q, q.rank)) : recv_at(0),
         .after = arrived});
  return c.take();
}

}  // namespace

const Algorithm scatter_hierarchical = {.name = "hierarchical",
                                        .summary = "to one rank of each host, and from there",
                                        .collective = Collective::kScatter,
                                        .rank_order = true,
                                        .applies = roots_column_spans_hosts,
                                        .seconds = through_roots_column_s<scatter_direct>,
                                        .compose = compose};

}  // namespace tutti
