// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Allgather within the call line: every rank posts its block in the line that announces its call,
// and copies all others'. After XHC (Katevenis et al., CLUSTER 2022). Blocks of at most 56 bytes,
// also of different length.
// T = sigma + p steps: one exchange of lines.
#include "algorithms/common.hpp"
#include "algorithms/cost.hpp"

namespace tutti {
namespace {

Applies applies(const Problem& q) { return fits_line(q, q.bytes()); }

double seconds(const Problem& q, const Machine& m) { return sync_s(q, m) + q.ranks * m.step_s; }

void build(const Problem& q, Builder& b) {
  b.copy(Ref::of(Space::kLine, 0, q.rank), send_at(0), q.send_block(0).bytes);
  b.publish(1);
  copy_own_block(q, b);
  b.await_all(1);
  for (int i = 1; i < q.ranks; ++i) {
    const int peer = rank_after(q, i);
    const Range block = q.recv_block(peer);
    b.copy(at_recv(block), Ref::of(Space::kLine, 0, peer), block.bytes);
  }
}

}  // namespace

const Algorithm allgather_inline = {
    .name = "inline",
    .summary = "blocks travel in the call lines; up to 56 bytes each",
    .collective = Collective::kAllgather,
    .rank_order = true,
    .applies = applies,
    .seconds = seconds,
    .build = build};
const Algorithm allgatherv_inline = {
    .name = "inline",
    .summary = "blocks travel in the call lines; up to 56 bytes each",
    .collective = Collective::kAllgatherv,
    .rank_order = true,
    .applies = applies,
    .seconds = seconds,
    .build = build};

}  // namespace tutti
