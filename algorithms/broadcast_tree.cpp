// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Broadcast down a binomial tree, in segments. Any number of ranks, any root.
// T = ceil(log2 p) (alpha + n beta): the root sends everything ceil(log2 p) times.
#include "algorithms/tree.hpp"

namespace tutti {

const Algorithm broadcast_tree = {.name = "tree",
                                  .summary = "messages down a binomial tree, segmented",
                                  .collective = Collective::kBroadcast,
                                  .rank_order = true,
                                  .applies = always,
                                  .seconds = TreeBroadcast<BinomialTree>::seconds,
                                  .build = TreeBroadcast<BinomialTree>::build};

}  // namespace tutti
