// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Reduce up a Bine tree (butterfly.hpp; De Sensi et al., SC 2025), in segments. Any number of
// ranks, any root; adds by subtrees. T = log2(p) (alpha + n beta) + n (log2(p) + 1) gamma, and two
// messages more if p is no power of two.
#include "algorithms/butterfly.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const int rounds = BineTree::rounds(q.ranks);
  return rounds * message_s(q.bytes(), m) +
         combine_s((static_cast<uint64_t>(rounds) + 1) * q.bytes(), m) + buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  const BineTree tree(q, q.root);
  const bool passes = !tree.children.empty() && tree.parent >= 0;
  const Ref partial = b.scratch(passes ? std::min(q.bytes(), kSegmentBytes) : 0);
  const auto place_of = [&](Range segment) {
    if (!passes) return recv_at(segment.offset);
    b.fence();  // the last sum may still be on its way
    return partial;
  };
  reduce_up(q, tree, b, place_of, [&](Ref sum, Range segment) {
    if (tree.parent >= 0) b.send(tree.parent, sum, segment.bytes);
  });
}

}  // namespace

const Algorithm reduce_bine = {.name = "bine",
                               .summary = "messages up a Bine tree, segmented",
                               .collective = Collective::kReduce,
                               .rank_order = false,
                               .applies = always,
                               .seconds = seconds,
                               .build = build};

}  // namespace tutti
