// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Allreduce by one exchange: each rank sends what it gives to all others, and reduces all of it in
// rank order. Half as many rounds as by the owners of slices (all_pairs), for short vectors of few
// ranks. T = (p-1) alpha + n(p-1) beta + n p gamma.
#include "algorithms/all_pairs.hpp"
#include "algorithms/cost.hpp"

namespace tutti {
namespace {

Applies applies(const Problem& q) {
  if (q.bytes() > kSegmentBytes) return {false, "the vector is too long to be sent to all"};
  return {};
}

double seconds(const Problem& q, const Machine& m) {
  return (q.ranks - 1) * message_s(q.bytes(), m) +
         combine_s(q.bytes() * static_cast<uint64_t>(q.ranks - 1), m) + buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  const Ref arrived = b.scratch(q.bytes() * static_cast<uint64_t>(q.ranks));
  reduce_from_all(
      q, b, arrived, recv_at(0), [](int) { return send_at(0); }, [&](int) { return q.bytes(); });
}

}  // namespace

const Algorithm allreduce_exchange = {.name = "exchange",
                                      .summary = "one message to each rank, all reduced by each",
                                      .collective = Collective::kAllreduce,
                                      .rank_order = true,
                                      .applies = applies,
                                      .seconds = seconds,
                                      .build = build};

}  // namespace tutti
