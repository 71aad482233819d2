// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Pairwise allgatherv: in step i a rank sends its block to the rank i after it and receives that of
// the one i before. Any number of ranks. T = (p-1) (alpha + n beta), blocks of at most n.
#include "algorithms/cost.hpp"
#include "algorithms/messages.hpp"
#include "algorithms/uneven.hpp"

namespace tutti {
namespace {

void build(const Problem& q, Builder& b) {
  for (int i = 1; i < q.ranks; ++i) b.send(rank_after(q, i), send_at(0), q.send_block(0).bytes);
  keep_block(q, b, 0, q.rank);
  for (int i = 1; i < q.ranks; ++i) {
    const Range block = q.recv_block(rank_after(q, -i));
    b.recv(rank_after(q, -i), at_recv(block), block.bytes);
  }
}

}  // namespace

const Algorithm allgatherv_pairwise = {.name = "pairwise",
                                       .summary = "messages between all pairs",
                                       .collective = Collective::kAllgatherv,
                                       .rank_order = true,
                                       .applies = always,
                                       .seconds = one_by_one_s,
                                       .build = build};

}  // namespace tutti
