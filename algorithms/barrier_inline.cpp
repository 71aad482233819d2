// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Barrier by the call lines: every rank announces its call and reads all announcements.
// T = sigma: one exchange of lines. Reading p-1 lines suits the ranks of one host.
#include "algorithms/common.hpp"
#include "algorithms/cost.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) { return sync_s(q, m); }

void build(const Problem&, Builder& b) {
  b.publish(1);
  b.await_all(1);
}

}  // namespace

const Algorithm barrier_inline = {.name = "inline",
                                  .summary = "everyone reads everyone's call line",
                                  .collective = Collective::kBarrier,
                                  .rank_order = true,
                                  .applies = shares_memory,
                                  .seconds = seconds,
                                  .build = build};

}  // namespace tutti
