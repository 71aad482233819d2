// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Gather within the call line: every rank posts its block in the line that announces its call, and
// the root copies all. After XHC (Katevenis et al., CLUSTER 2022). Blocks of at most 56 bytes. T =
// sigma + p steps: one exchange of lines.
#include "algorithms/common.hpp"
#include "algorithms/cost.hpp"

namespace tutti {
namespace {

Applies applies(const Problem& q) { return fits_line(q, q.bytes()); }

double seconds(const Problem& q, const Machine& m) { return sync_s(q, m) + q.ranks * m.step_s; }

void build(const Problem& q, Builder& b) {
  if (q.rank != q.root) {
    b.copy(Ref::of(Space::kLine, 0, q.rank), send_at(0), q.bytes());
    return b.publish(1);
  }
  b.publish(1);
  copy_own_block(q, b);
  b.await_all(1);
  for (int i = 1; i < q.ranks; ++i) {
    const int peer = rank_after(q, i);
    b.copy(recv_at(block_at(q, peer)), Ref::of(Space::kLine, 0, peer), q.bytes());
  }
}

}  // namespace

const Algorithm gather_inline = {.name = "inline",
                                 .summary = "blocks travel in the call lines; up to 56 bytes each",
                                 .collective = Collective::kGather,
                                 .rank_order = true,
                                 .applies = applies,
                                 .seconds = seconds,
                                 .build = build};

}  // namespace tutti
