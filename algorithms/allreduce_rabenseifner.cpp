// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Rabenseifner's allreduce (Rabenseifner, ICCS 2004; Thakur, Rabenseifner & Gropp, IJHPCA 2005). In
// a reduce-scatter, ranks at distances 1, 2, ..., p/2 exchange half of what they still have. An
// allgather follows at distances p/2, p/4, ..., 1. butterfly.hpp has its time. It moves whole runs
// of bytes without a copy of them, so it suits middle sizes of powers of two. It is not segmented.
#include "algorithms/butterfly.hpp"

namespace tutti {

const Algorithm allreduce_rabenseifner = {
    .name = "rabenseifner",
    .summary = "messages of halves, quarters, ..., there and back: each byte moved twice",
    .collective = Collective::kAllreduce,
    .rank_order = false,
    .applies = always,
    .seconds = ButterflyAllreduce::seconds,
    .build = ButterflyAllreduce::build<Butterfly::doubling>};

}  // namespace tutti
