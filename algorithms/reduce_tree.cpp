// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Reduce up a binomial tree, in segments. Each rank combines its own data with that of all its
// children in one pass and passes the sum to its parent. The tree stands on rank 0, which passes
// the result on to the root, so that ranks are combined in ascending order whatever the root. Any
// number of ranks, any root; adds by subtrees. T = (ceil(log2 p) + 1) (alpha + n beta) + n
// ceil(log2 p) gamma; one alpha less if the root is 0.
#include "algorithms/cost.hpp"
#include "algorithms/tree.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const int rounds = rounds_of(q.ranks);
  return (rounds + (q.root == 0 ? 0 : 1)) * message_s(q.bytes(), m) +
         combine_s((static_cast<uint64_t>(rounds) + 1) * q.bytes(), m) + buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  const BinomialTree tree(q, 0);
  const bool keeps = q.rank == 0 && q.root == 0;
  const bool sums = !tree.children.empty() && !keeps;
  const Ref partial = b.scratch(sums ? std::min(q.bytes(), kSegmentBytes) : 0);
  const auto place_of = [&](Range segment) {
    b.fence();  // the last sum may still be on its way
    return keeps ? recv_at(segment.offset) : partial;
  };
  reduce_up(q, tree, b, place_of, [&](Ref sum, Range segment) {
    if (!keeps) b.send(q.rank == 0 ? q.root : tree.parent, sum, segment.bytes);
    if (q.rank != q.root || keeps) return;
    if (q.in_place) b.fence();  // the result lands where a leaf sends from
    b.recv(0, recv_at(segment.offset), segment.bytes);
  });
}

}  // namespace

const Algorithm reduce_tree = {.name = "tree",
                               .summary = "messages up a binomial tree, segmented",
                               .collective = Collective::kReduce,
                               .rank_order = false,
                               .applies = always,
                               .seconds = seconds,
                               .build = build};

}  // namespace tutti
