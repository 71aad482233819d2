// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Broadcast by leaders of groups (leaders.hpp). The root, which leads its own, gives to its group
// and the other leaders, and these to theirs. The message must fit a slot; up to 56 bytes travel in
// lines. T = sigma_(d+g) + sigma_d + 2n handover with g groups of d ranks. sigma_k is the time
// until k ranks have read one line.
#include "algorithms/leaders.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const GroupShape shape = shape_of(q);
  return 2 * in_group_s(shape, m) + between_leaders_s(q, shape, m) + gate_s(q, m) +
         stage_s(2 * q.bytes(), m) + 2 * fetch_s(q.bytes(), m) + buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  const Leaders leaders(q);
  const Space space = q.bytes() <= kLineBytes ? Space::kLine : Space::kSlot;
  const Ref own = Ref::of(space, 0, q.rank);
  b.ticks(2);
  if (q.rank == q.root) {
    b.copy(own, recv_at(0), q.bytes());
    return b.publish(1);
  }
  b.publish(1);
  const int sender = leaders.leads() ? q.root : leaders.leader();
  b.await(sender, sender == q.root ? 1 : 2);
  const Ref given = Ref::of(space, 0, sender);
  if (leaders.leads()) {
    b.copy(own, given, q.bytes());
    b.publish(2);
  }
  b.copy(recv_at(0), leaders.leads() ? own : given, q.bytes(), stores_non_temporal(q, q.bytes()));
}

}  // namespace

const Algorithm broadcast_leaders = {.name = "leaders",
                                     .summary = "from the root to the leaders of groups, and on",
                                     .collective = Collective::kBroadcast,
                                     .rank_order = true,
                                     .applies = leaders_and_slot,
                                     .seconds = seconds,
                                     .build = build,
                                     .by_cache_domains = true};

}  // namespace tutti
