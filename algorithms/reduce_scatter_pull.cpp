// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Reduce-scatter by pulling, the first half of allreduce's pull. Everyone reads its own block from
// all send buffers, piece by piece, and reduces it in rank order. Ranks that can read one another's
// buffers. T = 2 sigma + (p-1) (pieces pi + n pull) + pn gamma, blocks of at most n; pi is the
// start of a pull.
#include "algorithms/cost.hpp"
#include "algorithms/pull.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const int pieces = std::max(1, parts_of_at_most(q.bytes(), pulled_piece(q)));
  return 2 * sync_s(q, m) + (q.ranks - 1) * (pull_s(q, q.bytes(), m) + (pieces - 1) * m.pull_s) +
         combine_s(all_blocks_bytes(q), m) + touch_s(q, 2 * q.bytes(), m);
}

void build(const Problem& q, Builder& b) {
  const Range own = q.send_block(q.rank);
  b.export_buffers();
  b.await_all(1);
  reduce_by_pulling(q, b, recv_at(0), own.offset, own.bytes, stores_non_temporal(q, q.bytes()));
  b.publish(2);
  b.await_all(2);
}

}  // namespace

constexpr Algorithm reduce_scatter_pull = {
    .name = "pull",
    .summary = "everyone reads and reduces its block of all send buffers",
    .collective = Collective::kReduceScatter,
    .rank_order = true,
    .applies = can_pull,
    .seconds = seconds,
    .build = build};
constexpr Algorithm reduce_scatterv_pull = reduce_scatter_pull.of(Collective::kReduceScatterv);

}  // namespace tutti
