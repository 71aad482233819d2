// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Broadcast down a binomial tree, in segments. Any number of ranks, any root.
// T = ceil(log2 p) (alpha + n beta): the root sends everything ceil(log2 p) times.
#include "algorithms/cost.hpp"
#include "algorithms/tree.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  return rounds_of(q.ranks) * message_s(q.bytes(), m) + buffers_s(q, m);
}

void build(const Problem& q, Builder& b) { broadcast_down(BinomialTree(q, q.root), q.bytes(), b); }

}  // namespace

const Algorithm broadcast_tree = {.name = "tree",
                                  .summary = "messages down a binomial tree, segmented",
                                  .collective = Collective::kBroadcast,
                                  .rank_order = true,
                                  .applies = always,
                                  .seconds = seconds,
                                  .build = build};

}  // namespace tutti
