// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Dissemination barrier (Hensgen, Finkel & Manber, 1988): in round k every rank tells the one 2^k
// after it. Any number of ranks; messages of one byte.
// T = ceil(log2 p) alpha.
#include "algorithms/common.hpp"
#include "algorithms/cost.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) { return rounds_of(q.ranks) * message_s(1, m); }

void build(const Problem& q, Builder& b) {
  const Ref token = b.scratch(1);
  const Ref arrived = b.scratch(1);
  for (int distance = 1; distance < q.ranks; distance *= 2) {
    b.send(rank_after(q, distance), token, 1);
    b.recv(rank_after(q, -distance), arrived, 1);
  }
}

}  // namespace

const Algorithm barrier_dissemination = {.name = "dissemination",
                                         .summary = "messages in log2(ranks) rounds",
                                         .collective = Collective::kBarrier,
                                         .rank_order = true,
                                         .applies = always,
                                         .seconds = seconds,
                                         .build = build};

}  // namespace tutti
