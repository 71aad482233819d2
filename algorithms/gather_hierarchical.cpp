// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Hierarchical gather: within each host to the rank in the root's column, and from there all blocks
// of the host in one message to the root.
// T = alpha + (H-1) (alpha/16 + n L beta), blocks of n, all of it at the root, and one phase within
// the host: 2 alpha, n L handed over. L times fewer messages than direct, as many bytes: it suits
// short blocks of many ranks.
//
// There is none of gatherv: each rank knows the size of its own block only, so who gathers for its
// host would have to be told, before a plan can say how much goes where.
#include "algorithms/hierarchical.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const Problem column = along_column(q);
  return gather_direct.seconds(column, m) + host_phase_s(q, m) + asking_s(q, m) +
         host_pass_s(column.bytes(), m);
}

Composition compose(const Problem& q) {
  Composer c(q);
  const BlocksByHost blocks(q);
  const int root_host = q.hosts->host(q.root);
  const int root_place = q.hosts->place(q.root);
  const bool at_root = q.rank == q.root;
  const bool leads = c.place() == root_place;
  const bool as_given = blocks.as_given();
  // At the root all blocks by host, at the other leaders those of their host.
  Ref packed = recv_at(0);
  if (leads && !(at_root && as_given)) {
    packed = c.scratch(at_root ? all_blocks_bytes(q) : blocks.count(c.host()) * q.element_bytes);
  }
  const uint32_t gathered =
      c.add({.collective = Collective::kGather,
             .root = root_place,
             .count = q.count,
             .send = at_root && q.in_place ? recv_at(block_at(q, q.rank)) : send_at(0),
             .recv = at_root ? packed.plus(blocks.offset(c.host())) : packed});
  if (!leads) return c.take();
  // What the root's own host gives does not pass here, so the root need not wait for it.
  Phase column{.scope = Scope::kColumn,
               .collective = Collective::kGatherv,
               .root = root_host,
               .layouts = {{{at_root ? 0 : blocks.count(c.host())}, {0}}, {}},
               .send = packed,
               .recv = packed,
               .after = at_root ? 0 : gathered};
  for (int host = 0; at_root && host < c.hosts(); ++host) {
    column.layouts.recv.counts.push_back(host == root_host ? 0 : blocks.count(host));
    column.layouts.recv.offsets.push_back(blocks.begin(host));
  }
  c.add(std::move(column));
  if (at_root && !as_given) {
    c.add({.scope = Scope::kColumn, .after = gathered, .moves = blocks.unpack(recv_at(0), packed)});
  }
  return c.take();
}

}  // namespace

const Algorithm gather_hierarchical = {"hierarchical",
                                       "to one rank of each host, and to the root",
                                       Collective::kGather,
                                       true,
                                       roots_column_spans_hosts,
                                       seconds,
                                       nullptr,
                                       compose};

}  // namespace tutti
