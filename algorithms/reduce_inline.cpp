// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Reduce within the call line: every rank posts its data in the line that announces its call, and
// the root reduces all lines in rank order. After the one-line exchange of XHC (Katevenis et al.,
// CLUSTER 2022). At most 56 bytes. T = sigma + pn gamma: one exchange of lines.
#include "algorithms/common.hpp"
#include "algorithms/cost.hpp"

namespace tutti {
namespace {

Applies applies(const Problem& q) { return fits_line(q, q.bytes()); }

double seconds(const Problem& q, const Machine& m) {
  return sync_s(q, m) + combine_s(all_blocks_bytes(q), m);
}

void build(const Problem& q, Builder& b) {
  if (q.rank != q.root) {
    b.copy(Ref::of(Space::kLine, 0, q.rank), send_at(0), q.bytes());
    return b.publish(1);
  }
  b.publish(1);
  b.await_all(1);
  b.reduce(recv_at(0), one_of_each_rank(q, send_at(0), Space::kLine, 0), q.bytes(), true);
}

}  // namespace

const Algorithm reduce_inline = {.name = "inline",
                                 .summary = "payload travels in the call lines; up to 56 bytes",
                                 .collective = Collective::kReduce,
                                 .rank_order = true,
                                 .applies = applies,
                                 .seconds = seconds,
                                 .build = build};

}  // namespace tutti
