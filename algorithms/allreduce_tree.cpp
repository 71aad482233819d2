// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Allreduce up and down a binomial tree, in segments. Each rank combines its own data with that of
// all its children in one pass and passes the sum to its parent. The root's result comes back down.
// Any number of ranks; adds by subtrees. T = 2 ceil(log2 p) (alpha + n beta) + n ceil(log2 p)
// gamma.
#include "algorithms/cost.hpp"
#include "algorithms/tree.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const int rounds = rounds_of(q.ranks);
  return 2 * rounds * message_s(q.bytes(), m) +
         combine_s((static_cast<uint64_t>(rounds) + 1) * q.bytes(), m) + buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  const BinomialTree tree(q, 0);
  reduce_up(
      q, tree, b, [](Range segment) { return recv_at(segment.offset); },
      [&](Ref sum, Range segment) {
        if (tree.parent >= 0) b.send(tree.parent, sum, segment.bytes);
      });
  b.fence();  // sent data is about to be overwritten
  broadcast_down(tree, q.bytes(), b);
}

}  // namespace

const Algorithm allreduce_tree = {.name = "tree",
                                  .summary = "messages up and down a binomial tree, segmented",
                                  .collective = Collective::kAllreduce,
                                  .rank_order = false,
                                  .applies = always,
                                  .seconds = seconds,
                                  .build = build};

}  // namespace tutti
