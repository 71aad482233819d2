// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Reduce by leaders of groups (leaders.hpp). Each reduces what its group gives; the root, which
// leads its own, also reduces what the other leaders have. The message must fit a slot; up to 24
// bytes travel in lines. Groups of d ranks, g of them: T = (sigma_d + sigma_g) + (d+g-1)n handover
// + 2n gamma, where sigma_k is the exchange of k lines.
#include "algorithms/leaders.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const GroupShape shape = shape_of(q);
  const auto read = static_cast<uint64_t>(2 * shape.largest + shape.groups - 3);
  return in_group_s(shape, m) + between_leaders_s(q, shape, m) + gate_s(q, m) +
         stage_s(2 * q.bytes(), m) + fetch_s(read * q.bytes(), m) + 2 * combine_s(q.bytes(), m) +
         buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  const Leaders leaders(q);
  const LeadersStaging staging(q.bytes());
  b.ticks(2);
  if (!leaders.leads()) {
    b.copy(staging.given(q.rank), send_at(0), q.bytes());
    return b.publish(1);
  }
  b.publish(1);
  if (q.rank != q.root) {
    leaders.combine_group(staging, b, staging.given(q.rank));
    return b.publish(2);
  }
  std::vector<Ref> sources = {send_at(0)};
  leaders.for_each_member([&](int member) {
    b.await(member, 1);
    sources.push_back(staging.given(member));
  });
  leaders.for_each_other_leader([&](int peer) {
    b.await(peer, 2);
    sources.push_back(staging.given(peer));
  });
  b.reduce(recv_at(0), sources, q.bytes(), true, stores_non_temporal(q, q.bytes()));
}

}  // namespace

const Algorithm reduce_leaders = {.name = "leaders",
                                  .summary = "within groups, then from their leaders to the root",
                                  .collective = Collective::kReduce,
                                  .rank_order = false,
                                  .applies = leaders_and_slot,
                                  .seconds = seconds,
                                  .build = build,
                                  .by_cache_domains = true};

}  // namespace tutti
