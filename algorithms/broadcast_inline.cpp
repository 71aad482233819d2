// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Broadcast within the call line: the payload travels in the line that announces the root's call.
// After XHC (Katevenis et al., CLUSTER 2022). At most 56 bytes.
// T = sigma: one line is read.
#include "algorithms/common.hpp"
#include "algorithms/cost.hpp"

namespace tutti {
namespace {

Applies applies(const Problem& q) { return fits_line(q, q.bytes()); }

double seconds(const Problem& q, const Machine& m) { return sync_s(q, m); }

void build(const Problem& q, Builder& b) {
  const Ref line = Ref::of(Space::kLine, 0, q.root);
  if (q.rank == q.root) {
    b.copy(line, recv_at(0), q.bytes());
    return b.publish(1);
  }
  b.publish(1);
  b.await(q.root, 1);
  b.copy(recv_at(0), line, q.bytes());
}

}  // namespace

const Algorithm broadcast_inline = {
    .name = "inline",
    .summary = "payload travels in the root's call line; up to 56 bytes",
    .collective = Collective::kBroadcast,
    .rank_order = true,
    .applies = applies,
    .seconds = seconds,
    .build = build};

}  // namespace tutti
