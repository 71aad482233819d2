// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Two-shot allreduce: rank j owns slice j. Everyone stages what others own, reduces its own slice
// in rank order, and copies the other slices' results out. DeepSpeed's "distributed" form, with
// staging that stays in the cache. T = (2 or chunks+2) sigma + 2n(p-1)/p handover + n gamma: moves
// the fewest bytes that private buffers permit. Movement-avoiding reduction (YHCCL, SC '23) moves
// as many bytes, for own data is not staged here either. A rank loads n of its own, (p-1)/p n
// staged and (p-1)/p n of results. It stores n, (p-1)/p n and n/p. Its staging is 1/p of this
// one's, which stays in the cache as it is. It adds in an order that depends on the slice.
#include "algorithms/cost.hpp"
#include "algorithms/two_shot.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const uint64_t others = all_but_own(q, q.bytes());
  return TwoShot::waits(q) * sync_s(q, m) + TwoShot::write_s(q, q.bytes(), m) +
         2 * TwoShot::read_s(q, others, m) + combine_s(q.bytes() - others, m) + buffers_s(q, m) +
         q.ranks * m.step_s;
}

void build(const Problem& q, Builder& b) {
  TwoShot shots(q, b);
  shots.build(
      [&](int chunk) {
        shots.reduce_own(chunk, shots.own_result(chunk));
        shots.copy_result(chunk, q.rank);  // in one pass with that
      },
      [&](int chunk) {
        // Not all from one rank at a time.
        for (int i = 1; i < q.ranks; ++i) shots.copy_result(chunk, rank_after(q, i));
      });
}

}  // namespace

const Algorithm allreduce_two_shot = {.name = "two_shot",
                                      .summary = "each rank reduces a slice for all, pipelined",
                                      .collective = Collective::kAllreduce,
                                      .rank_order = true,
                                      .applies = TwoShot::applies,
                                      .seconds = seconds,
                                      .build = build};

}  // namespace tutti
