// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Allreduce by leaders of groups (leaders.hpp). Each leader reduces what its group gives, then what
// all leaders have so, and its group copies the result from it. Twice as long a message must fit a
// slot; up to 24 bytes travel in lines. Groups of d ranks, g of them: T = (2 sigma_d + sigma_g) +
// (d+g-1)n handover + 2n gamma, instead of sigma_p + (p-1)n handover. sigma_k is the exchange of k
// lines.
#include "algorithms/leaders.hpp"

namespace tutti {
namespace {

Applies applies(const Problem& q) {
  if (const Applies leaders = has_leaders(q); !leaders.yes) return leaders;
  if (!LeadersStaging::fits(q))
    return {false, "twice its length is over a slot (TUTTI_SHM_SLOT_BYTES)"};
  return {};
}

double seconds(const Problem& q, const Machine& m) {
  const GroupShape shape = shape_of(q);
  const auto read = static_cast<uint64_t>(shape.largest + shape.groups - 1);
  return 2 * in_group_s(shape, m) + between_leaders_s(q, shape, m) + gate_s(q, m) +
         stage_s(3 * q.bytes(), m) + fetch_s(read * q.bytes(), m) + 2 * combine_s(q.bytes(), m) +
         buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  const Leaders leaders(q);
  const LeadersStaging staging(q.bytes());
  staging.claim(b);
  b.ticks(3);
  if (!leaders.leads()) {
    b.copy(staging.given(q.rank), send_at(0), q.bytes());
    b.publish(1);
    b.await(leaders.leader(), 3);
    return b.copy(recv_at(0), staging.passed_on(leaders.leader()), q.bytes());
  }
  b.publish(1);
  leaders.combine_group(staging, b, staging.given(q.rank));
  b.publish(2);
  leaders.for_each_other_leader([&](int peer) { b.await(peer, 2); });
  // All leaders reduce in the same order, for the same bits.
  std::vector<Ref> sources;
  for (const std::vector<int>& group : leaders.groups()) {
    sources.push_back(staging.given(group.front()));
  }
  b.reduce(staging.passed_on(q.rank), sources, q.bytes(), true);
  b.publish(3);
  b.copy(recv_at(0), staging.passed_on(q.rank), q.bytes());
}

}  // namespace

const Algorithm allreduce_leaders = {.name = "leaders",
                                     .summary = "within groups, between their leaders, and back",
                                     .collective = Collective::kAllreduce,
                                     .rank_order = false,
                                     .applies = applies,
                                     .seconds = seconds,
                                     .build = build,
                                     .by_cache_domains = true};

}  // namespace tutti
