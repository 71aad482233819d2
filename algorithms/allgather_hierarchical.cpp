// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Hierarchical allgather with as many leaders as ranks (after PiP-MColl, Huang et al., 2023). Each
// rank gathers the blocks of its column, while the ranks of a host exchange their own. Then they
// exchange what came for each of the other hosts. T = (H-1) alpha + n (H-1) beta, and n (p-1)
// copied within the host; n bytes per rank.
//
// Short blocks are packed. A column gathers its blocks side by side, in some log2 H rounds, and a
// host hands over all of them in one phase. Each rank then copies them to where they belong.
#include "algorithms/hierarchical.hpp"

namespace tutti {
namespace {

// The blocks of some ranks, where the receive buffer has them.
BlockLayout received(const Problem& q, const std::vector<int>& ranks) {
  return layout_of_ranks(q, ranks, [&q](int rank) { return q.recv_block(rank); });
}

Phase gathering(Scope scope, BlockLayout all, size_t own, const Ref& from, uint32_t after) {
  const uint64_t largest = *std::max_element(all.counts.begin(), all.counts.end());
  const BlockLayout mine{{all.counts[own]}, {0}};
  return {.scope = scope,
          .collective = Collective::kAllgatherv,
          .count = largest,
          .layouts = {mine, std::move(all)},
          .send = from,
          .recv = recv_at(0),
          .after = after};
}

// Messages to all other hosts leave at once, half an alpha each; rounds wait for one another.
constexpr int kFewestPacked = 7;
// Beyond kMostPacked, copying all once more takes longer than messages do on fast networks, by
// simulation (docs/scale.md).
constexpr uint64_t kMostPacked = 8 << 10;

bool packed(const Problem& q) {
  return q.collective == Collective::kAllgather && q.hosts->count() >= kFewestPacked &&
         along_column(q).bytes() <= kMostPacked;
}

Composition compose_packed(const Problem& q) {
  Composer c(q);
  const auto hosts = static_cast<uint64_t>(c.hosts());
  const Ref of_column = c.scratch(hosts * q.bytes());
  const Ref by_place = c.scratch(all_blocks_bytes(q));
  const uint32_t gathered = c.add({.scope = Scope::kColumn,
                                   .collective = Collective::kAllgather,
                                   .count = q.count,
                                   .send = q.in_place ? at_recv(q.recv_block(q.rank)) : send_at(0),
                                   .recv = of_column});
  c.add({.collective = Collective::kAllgather,
         .count = hosts * q.count,
         .send = of_column,
         .recv = by_place,
         .after = gathered});
  Phase unpacking;
  for (int host = 0; host < c.hosts(); ++host) {
    for (int place = 0; place < c.neighbors(); ++place) {
      const uint64_t block = static_cast<uint64_t>(place) * hosts + static_cast<uint64_t>(host);
      unpacking.moves.push_back({at_recv(q.recv_block(c.rank_at(host, place))),
                                 by_place.plus(block * q.bytes()), q.bytes()});
    }
  }
  c.add(std::move(unpacking));
  return c.take();
}

double seconds(const Problem& q, const Machine& m) {
  if (!packed(q)) return along_columns_s(q, m);
  Problem column = along_column(q);
  column.count = column.stride = q.count;
  return std::min(allgather_bruck.seconds(column, m), allgather_ring.seconds(column, m)) +
         host_sync_s(q, m) + host_pass_s(all_blocks_bytes(q), m) +
         host_hand_s(all_blocks_bytes(q), m);
}

Composition compose(const Problem& q) {
  if (packed(q)) return compose_packed(q);
  Composer c(q);
  const Ref own_block = recv_at(q.recv_block(q.rank).offset);
  const Ref own = q.in_place ? own_block : send_at(0);
  const auto place = static_cast<size_t>(c.place());
  const auto host = static_cast<size_t>(c.host());
  const uint32_t here =
      c.add(gathering(Scope::kHost, received(q, q.hosts->ranks_of[host]), place, own, 0));
  // Both phases write the own block, hence one after the other.
  const uint32_t arrived = c.add(
      gathering(Scope::kColumn, received(q, q.hosts->column(c.place())), host, own_block, here));
  for (int i = 1; i < c.hosts(); ++i) {
    const size_t from = (host + static_cast<size_t>(i)) % static_cast<size_t>(c.hosts());
    const std::vector<int>& ranks = q.hosts->ranks_of[from];
    c.add(gathering(Scope::kHost, received(q, ranks), place,
                    recv_at(q.recv_block(ranks[place]).offset), arrived));
  }
  return c.take();
}

}  // namespace

const Algorithm allgather_hierarchical = {.name = "hierarchical",
                                          .summary = "along columns, then within hosts",
                                          .collective = Collective::kAllgather,
                                          .rank_order = true,
                                          .applies = spans_even_hosts,
                                          .seconds = seconds,
                                          .compose = compose};

const Algorithm allgatherv_hierarchical = {.name = "hierarchical",
                                           .summary = "along columns, then within hosts",
                                           .collective = Collective::kAllgatherv,
                                           .rank_order = true,
                                           .applies = spans_even_hosts,
                                           .seconds = along_columns_s,
                                           .compose = compose};

}  // namespace tutti
