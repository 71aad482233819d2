// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Reduce-scatter within the call line: every rank posts all its blocks in the line that announces
// its call; each reduces its own block from all lines in rank order. After XHC (Katevenis et al.,
// CLUSTER 2022). At most 56 bytes for all blocks, if each is as long as the longest.
// T = sigma + pn gamma, blocks of n: one exchange of lines.
#include "algorithms/common.hpp"
#include "algorithms/cost.hpp"

namespace tutti {
namespace {

Applies applies(const Problem& q) { return fits_line(q, others_blocks_bytes(q)); }

double seconds(const Problem& q, const Machine& m) {
  return sync_s(q, m) + combine_s(all_blocks_bytes(q), m);
}

void build(const Problem& q, Builder& b) {
  stage_others_blocks(q, b, Space::kLine);
  b.publish(1);
  b.await_all(1);
  const Range own = q.send_block(q.rank);
  b.reduce(recv_at(0),
           one_of_each_rank(q, at_send(own), Space::kLine,
                            [&](int peer) { return left_at(q, q.rank, peer); }),
           own.bytes, true);
}

}  // namespace

const Algorithm reduce_scatter_inline = {
    .name = "inline",
    .summary = "blocks travel in the call lines; up to 56 bytes in all",
    .collective = Collective::kReduceScatter,
    .rank_order = true,
    .applies = applies,
    .seconds = seconds,
    .build = build};
const Algorithm reduce_scatterv_inline = {
    .name = "inline",
    .summary = "blocks travel in the call lines; up to 56 bytes in all",
    .collective = Collective::kReduceScatterv,
    .rank_order = true,
    .applies = applies,
    .seconds = seconds,
    .build = build};

}  // namespace tutti
