// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Barrier by leaders of groups (leaders.hpp): each waits for its group, then for the other leaders,
// then lets its group go. T = 2 sigma_d + sigma_g with g groups of d ranks, where sigma_k is the
// exchange of k lines.
#include "algorithms/leaders.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const GroupShape shape = shape_of(q);
  return 2 * in_group_s(shape, m) + between_leaders_s(q, shape, m) + gate_s(q, m);
}

void build(const Problem& q, Builder& b) {
  const Leaders leaders(q);
  b.ticks(3);
  b.publish(1);
  if (!leaders.leads()) return b.await(leaders.leader(), 3);
  leaders.for_each_member([&](int member) { b.await(member, 1); });
  b.publish(2);
  leaders.for_each_other_leader([&](int peer) { b.await(peer, 2); });
  b.publish(3);
}

}  // namespace

const Algorithm barrier_leaders = {.name = "leaders",
                                   .summary = "within groups, between their leaders, and back",
                                   .collective = Collective::kBarrier,
                                   .rank_order = true,
                                   .applies = has_leaders,
                                   .seconds = seconds,
                                   .build = build,
                                   .by_cache_domains = true};

}  // namespace tutti
