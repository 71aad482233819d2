// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Broadcast down a Bine tree (butterfly.hpp; De Sensi et al., SC 2025), in segments. Any number of
// ranks, any root. T = log2(p) (alpha + n beta), and two messages more if p is no power of two. As
// a binomial tree, with fewer bytes between groups of ranks that are near in the network.
#include "algorithms/butterfly.hpp"

namespace tutti {

const Algorithm broadcast_bine = {.name = "bine",
                                  .summary = "messages down a Bine tree, segmented",
                                  .collective = Collective::kBroadcast,
                                  .rank_order = true,
                                  .applies = always,
                                  .seconds = TreeBroadcast<BineTree>::seconds,
                                  .build = TreeBroadcast<BineTree>::build};

}  // namespace tutti
