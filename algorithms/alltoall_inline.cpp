// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Alltoall within the call line: every rank posts all its blocks in the line that announces its
// call; each copies its own from all lines. After XHC (Katevenis et al., CLUSTER 2022). At most 56
// bytes for all blocks. T = sigma + p steps: one exchange of lines.
#include "algorithms/common.hpp"
#include "algorithms/cost.hpp"

namespace tutti {
namespace {

Applies applies(const Problem& q) { return fits_line(q, others_blocks_bytes(q)); }

double seconds(const Problem& q, const Machine& m) { return sync_s(q, m) + 2 * q.ranks * m.step_s; }

void build(const Problem& q, Builder& b) {
  stage_others_blocks(q, b, Space::kLine);
  b.publish(1);
  copy_block_to_self(q, b);
  b.await_all(1);
  for (int i = 1; i < q.ranks; ++i) {
    const int peer = rank_after(q, i);
    b.copy(recv_at(block_at(q, peer)), Ref::of(Space::kLine, left_at(q, q.rank, peer), peer),
           q.bytes());
  }
}

}  // namespace

const Algorithm alltoall_inline = {
    .name = "inline",
    .summary = "blocks travel in the call lines; up to 56 bytes in all",
    .collective = Collective::kAlltoall,
    .rank_order = true,
    .applies = applies,
    .seconds = seconds,
    .build = build};

}  // namespace tutti
