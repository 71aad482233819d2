// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Rabenseifner's allreduce over a Bine butterfly (De Sensi et al., SC 2025): the longest messages
// go to neighbours, and the farthest are p/3 apart. Its time is that of butterfly.hpp, and it sends
// fewer bytes between groups of ranks that are near in the network.
#include "algorithms/butterfly.hpp"

namespace tutti {

const Algorithm allreduce_bine = {
    .name = "bine",
    .summary = "messages of halves, quarters, ..., there and back, the longest to neighbours",
    .collective = Collective::kAllreduce,
    .rank_order = false,
    .applies = always,
    .seconds = ButterflyAllreduce::seconds,
    .build = ButterflyAllreduce::build<Butterfly::bine>};

}  // namespace tutti
