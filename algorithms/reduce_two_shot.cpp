// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Two-shot reduce: rank j owns slice j. Everyone stages what others own and reduces its own slice
// in rank order; the root copies the others' results out. The reduce half of the two-shot
// allreduce, after Rabenseifner's reduce-scatter and gather (2004). T = (2 or chunks+2) sigma + n
// takeover + 2n(p-1)/p handover + n gamma. The root reads 2n(p-1)/p from others, where flat lets it
// read n(p-1). That pays from four ranks on.
#include "algorithms/cost.hpp"
#include "algorithms/two_shot.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const uint64_t others = all_but_own(q, q.bytes());
  return TwoShot::waits(q) * sync_s(q, m) + TwoShot::write_s(q, q.bytes(), m) +
         2 * TwoShot::read_s(q, others, m) + combine_s(q.bytes(), m) + buffers_s(q, m) +
         q.ranks * m.step_s;
}

void build(const Problem& q, Builder& b) {
  TwoShot shots(q, b);
  const bool root = q.rank == q.root;
  shots.build(
      [&](int chunk) {
        shots.reduce_own(chunk, root ? recv_at(shots.own_offset(chunk)) : shots.own_result(chunk));
      },
      [&](int chunk) {
        for (int i = 1; root && i < q.ranks; ++i) shots.copy_result(chunk, rank_after(q, i));
      });
}

}  // namespace

const Algorithm reduce_two_shot = {.name = "two_shot",
                                   .summary = "each rank reduces a slice for the root, pipelined",
                                   .collective = Collective::kReduce,
                                   .rank_order = true,
                                   .applies = TwoShot::applies,
                                   .seconds = seconds,
                                   .build = build};

}  // namespace tutti
