// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Dissemination barrier (Hensgen, Finkel & Manber, 1988), with a radix r for each phase
// (radices.hpp): where the radices before have the product d, every rank tells those d, 2d, ...,
// (r-1)d after it. Any number of ranks; messages of one byte. T = (sum of r)/2 alpha, which is
// log2 p alpha with a radix of 2 throughout.
#include "algorithms/common.hpp"
#include "algorithms/cost.hpp"
#include "algorithms/radices.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  double phases = 0;
  for_each_phase(q.ranks, [&](int, int messages) { phases += messages_s(messages, 1, m); });
  return phases;
}

void build(const Problem& q, Builder& b) {
  const Ref token = b.scratch(1);
  const Ref arrived = b.scratch(1);
  for_each_phase(q.ranks, [&](int reached, int messages) {
    for (int i = 1; i <= messages; ++i) b.send(rank_after(q, i * reached), token, 1);
    for (int i = 1; i <= messages; ++i) b.recv(rank_after(q, -i * reached), arrived, 1);
  });
}

}  // namespace

const Algorithm barrier_dissemination = {.name = "dissemination",
                                         .summary = "messages in about log2(ranks) phases",
                                         .collective = Collective::kBarrier,
                                         .rank_order = true,
                                         .applies = always,
                                         .seconds = seconds,
                                         .build = build};

}  // namespace tutti
