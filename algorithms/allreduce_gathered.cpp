// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Gathered allreduce over hosts, for reductions that are to be made in one step in rank order. A
// leader on each host gathers what its ranks give, and the leaders exchange that. Each reduces all
// of it, and hands the result to its host. Three phases wait for others, where messages between all
// pairs of ranks take two rounds of p-1 each. But each host sends L times as much as it must. T =
// (H-1) alpha + n L (H-1) beta + n p gamma, and n (L + 1) copied within the host.
#include "algorithms/hierarchical.hpp"

namespace tutti {
namespace {

Applies applies(const Problem& q) {
  if (const Applies spans = spans_even_hosts(q); !spans.yes) return spans;
  if (q.hosts->of_hosts) return {false, "it is a phase of a composition"};
  return {};
}

double seconds(const Problem& q, const Machine& m) {
  const int others = q.hosts->count() - 1;
  const uint64_t of_host = along_column(q).bytes();
  const double network =
      others * (start_s(of_host, m) + static_cast<double>(of_host) * leaders_byte_s(q, m));
  return 2 * host_sync_s(q, m) + host_hand_s(of_host, m) + network +
         combine_s(q.bytes() * static_cast<uint64_t>(q.ranks), host_machine(m)) +
         host_hand_s(q.bytes(), m);
}

Composition compose(const Problem& q) {
  Composer c(q);
  const bool leads = c.place() == 0;
  const BlocksByHost blocks(q);
  const Ref all = leads ? c.scratch(all_blocks_bytes(q)) : recv_at(0);
  const Ref of_host = leads ? all.plus(blocks.offset(c.host())) : recv_at(0);
  const uint32_t gathered = c.add({.collective = Collective::kGather,
                                   .root = 0,
                                   .count = q.count,
                                   .send = given(q),
                                   .recv = of_host});
  uint32_t reduced = 0;
  if (leads) {
    c.add({.scope = Scope::kColumn,
           .collective = Collective::kAllgather,
           .count = blocks.count(c.host()),
           .send = of_host,
           .recv = all,
           .after = gathered,
           .alone = true});
    Move sum{recv_at(0), all.plus(blocks.place_of(0)), q.bytes()};
    for (int rank = 1; rank < q.ranks; ++rank) {
      sum.others.push_back(all.plus(blocks.place_of(rank)));
    }
    reduced = c.add({.scope = Scope::kColumn, .moves = {std::move(sum)}});
  }
  c.add({.collective = Collective::kBroadcast,
         .root = 0,
         .count = q.count,
         .recv = recv_at(0),
         .after = reduced});
  return c.take();
}

}  // namespace

const Algorithm allreduce_gathered = {
    .name = "gathered",
    .summary = "leaders of hosts exchange what all ranks give, and reduce it in one step",
    .collective = Collective::kAllreduce,
    .rank_order = true,
    .applies = applies,
    .seconds = seconds,
    .compose = compose};

}  // namespace tutti
