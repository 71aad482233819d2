// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Hierarchical gather: within each host to the rank in the root's column, which sends all blocks of
// the host in one message to the root. T = alpha + (H-1) (alpha/16 + n L beta), blocks of n, all of
// it at the root. One phase within the host adds alpha/32, n L copied. L times fewer messages than
// direct, as many bytes: it suits short blocks of many ranks.
//
// There is none of gatherv. Each rank knows the size of its own block only. So a leader would have
// to be told before a plan can say how much goes where.
#include "algorithms/roots_column.hpp"

namespace tutti {
namespace {

Composition compose(const Problem& q) {
  Composer c(q);
  const RootsColumn column(q, c, recv_at(0));
  const bool lies_there = column.at_root && q.in_place;
  const uint32_t gathered = c.add({.collective = Collective::kGather,
                                   .root = column.place,
                                   .count = q.count,
                                   .send = lies_there ? recv_at(block_at(q, q.rank)) : send_at(0),
                                   .recv = column.of_this_host()});
  if (!column.leads) return c.take();
  Phase across = column.phase(Collective::kGatherv);
  across.layouts = {column.own(), column.by_host()};
  across.after = column.at_root ? 0 : gathered;
  c.add(std::move(across));
  if (column.repacks) {
    c.add({.scope = Scope::kColumn,
           .after = gathered,
           .moves = column.blocks.unpack(recv_at(0), column.packed)});
  }
  return c.take();
}

}  // namespace

const Algorithm gather_hierarchical = {.name = "hierarchical",
                                       .summary = "to one rank of each host, and to the root",
                                       .collective = Collective::kGather,
                                       .rank_order = true,
                                       .applies = roots_column_spans_hosts,
                                       .seconds = through_roots_column_s<gather_direct>,
                                       .compose = compose};

}  // namespace tutti
