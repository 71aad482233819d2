// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Hierarchical alltoall with as many leaders as ranks (after Traeff & Rougier, EuroMPI 2014). Each
// rank sends along its column, to each other host in one message, all that its ranks there shall
// have. Then the ranks of a host hand one another what came from each host. While that is on its
// way, they exchange their own blocks. T = H alpha / 2 + n (p-L) beta, with beta of L ranks that
// share a link, and H phases within the host: alpha/32 each, n p copied; blocks of n. L times fewer
// messages than pairwise, as many bytes: it suits short and middle blocks of many ranks.
//
// There is none of alltoallv, for the reason given in gather_hierarchical.cpp.
#include "algorithms/hierarchical.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const Problem column = along_column(q);
  double network = alltoall_pairwise.seconds(column, m);
  if (alltoall_bruck.applies(column).yes) {
    network = std::min(network, alltoall_bruck.seconds(column, m));
  }
  return network + q.hosts->count() * host_phase_s(q, m) + host_hand_s(all_blocks_bytes(q), m);
}

Composition compose(const Problem& q) {
  Composer c(q);
  const BlocksByHost blocks(q);
  Ref given = send_at(0);
  if (!blocks.as_given()) {
    given = c.scratch(all_blocks_bytes(q));
    c.add({.scope = Scope::kColumn, .moves = blocks.pack(given, send_at(0))});
  }
  // In place, blocks for others are on their way as long as the hosts exchange blocks. Those of
  // this host are then taken from where they arrive with the rest.
  const bool waits = q.in_place && blocks.as_given();
  const Ref arrived = c.scratch(all_blocks_bytes(q));
  const uint32_t exchanged = c.add({.scope = Scope::kColumn,
                                    .collective = Collective::kAlltoall,
                                    .count = blocks.count(c.host()),
                                    .send = given,
                                    .recv = arrived});
  for (int i = 0; i < c.hosts(); ++i) {
    const int from = (c.host() + i) % c.hosts();
    const bool at_once = i == 0 && !waits;
    Phase phase{.collective = Collective::kAlltoall,
                .count = q.count,
                .send = (at_once ? given : arrived).plus(blocks.offset(from)),
                .recv = recv_at(blocks.offset(from)),
                .after = at_once ? exchanged - 1 : exchanged};
    if (!blocks.as_given()) {
      const std::vector<int>& ranks = q.hosts->ranks_of[static_cast<size_t>(from)];
      phase.layouts.recv = layout_of_ranks(q, ranks, [&q](int rank) { return q.recv_block(rank); });
      phase.layouts.send.counts = phase.layouts.recv.counts;
      for (size_t place = 0; place < ranks.size(); ++place) {
        phase.layouts.send.offsets.push_back(place * q.count);
      }
      phase.collective = Collective::kAlltoallv;
      phase.count = 0;
      phase.recv = recv_at(0);
    }
    c.add(std::move(phase));
  }
  return c.take();
}

}  // namespace

const Algorithm alltoall_hierarchical = {
    .name = "hierarchical",
    .summary = "along columns for all of a host, then within hosts",
    .collective = Collective::kAlltoall,
    .rank_order = true,
    .applies = spans_even_hosts,
    .seconds = seconds,
    .compose = compose};

}  // namespace tutti
