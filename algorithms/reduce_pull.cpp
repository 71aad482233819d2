// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Reduce by pulling: the root reads all send buffers, piece by piece, and reduces them in rank
// order; the others wait until it has. Ranks that can read one another's buffers. T = 2 sigma +
// pieces (p-1) pi + n(p-1) pull + n gamma, where pi is the start of a pull.
#include "algorithms/cost.hpp"
#include "algorithms/pull.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const int pieces = std::max(1, parts_of_at_most(q.bytes(), pulled_piece(q)));
  return 2 * sync_s(q, m) + (q.ranks - 1) * (pull_s(q, q.bytes(), m) + (pieces - 1) * m.pull_s) +
         combine_s(q.bytes(), m) + touch_s(q, 2 * q.bytes(), m);
}

void build(const Problem& q, Builder& b) {
  b.export_buffers();
  b.ticks(2);
  if (q.rank != q.root) return b.await(q.root, 2);
  b.await_all(1);
  reduce_by_pulling(q, b, recv_at(0), 0, q.bytes(), stores_non_temporal(q, q.bytes()));
  b.publish(2);
}

}  // namespace

const Algorithm reduce_pull = {.name = "pull",
                               .summary = "the root reads and reduces all send buffers",
                               .collective = Collective::kReduce,
                               .rank_order = true,
                               .applies = can_pull,
                               .seconds = seconds,
                               .build = build};

}  // namespace tutti
