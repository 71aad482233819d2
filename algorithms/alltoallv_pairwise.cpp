// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Pairwise alltoallv: in step i a rank sends to the rank i after it and receives from the one i
// before. Any number of ranks; each knows its own sizes only. T = (p-1) (alpha + n beta), blocks of
// n.
#include "algorithms/cost.hpp"
#include "algorithms/uneven.hpp"

namespace tutti {
namespace {

void build(const Problem& q, Builder& b) {
  for (int i = 1; i < q.ranks; ++i) {
    send_block_to(rank_after(q, i), q.send_block(rank_after(q, i)), b);
  }
  keep_block(q, b, q.rank, q.rank);
  Arrivals arrivals(q, b);
  for (int i = 1; i < q.ranks; ++i) {
    recv_block_from(rank_after(q, -i), q.recv_block(rank_after(q, -i)), arrivals, b);
  }
  arrivals.land();
}

}  // namespace

const Algorithm alltoallv_pairwise = {.name = "pairwise",
                                      .summary = "messages between all pairs",
                                      .collective = Collective::kAlltoallv,
                                      .rank_order = true,
                                      .applies = always,
                                      .seconds = over_sizes<one_by_one_s>,
                                      .build = build};

}  // namespace tutti
