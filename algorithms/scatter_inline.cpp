// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Scatter within the call line: the root posts all blocks in the line that announces its call, and
// each rank copies its own. After XHC (Katevenis et al., CLUSTER 2022). At most 56 bytes for all
// blocks. T = sigma: one line is read.
#include "algorithms/common.hpp"
#include "algorithms/cost.hpp"

namespace tutti {
namespace {

Applies applies(const Problem& q) { return fits_line(q, others_blocks_bytes(q)); }

double seconds(const Problem& q, const Machine& m) { return sync_s(q, m) + 2 * m.step_s; }

void build(const Problem& q, Builder& b) {
  if (q.rank == q.root) {
    stage_others_blocks(q, b, Space::kLine);
    b.publish(1);
    return keep_own_block(q, b);
  }
  b.publish(1);
  b.await(q.root, 1);
  b.copy(recv_at(0), Ref::of(Space::kLine, left_at(q, q.rank, q.root), q.root), q.bytes());
}

}  // namespace

const Algorithm scatter_inline = {
    .name = "inline",
    .summary = "blocks travel in the root's call line; up to 56 bytes in all",
    .collective = Collective::kScatter,
    .rank_order = true,
    .applies = applies,
    .seconds = seconds,
    .build = build};

}  // namespace tutti
