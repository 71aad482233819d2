// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Hierarchical scatter: all blocks of a host in one message from the root to the rank in its
// column, and from there within the host.
// T = H alpha / 2 + (H-1) n L beta, blocks of n, all of it at the root, and one phase within the
// host: 2 alpha, n L handed over. L times fewer messages than direct, as many bytes: it suits short
// and middle blocks.
//
// There is none of scatterv, for the reason given in gather_hierarchical.cpp.
#include "algorithms/hierarchical.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const Problem column = along_column(q);
  return scatter_direct.seconds(column, m) + host_phase_s(q, m) + asking_s(q, m) +
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
  Ref packed = send_at(0);
  if (leads && !(at_root && as_given)) {
    packed = c.scratch(at_root ? all_blocks_bytes(q) : blocks.count(c.host()) * q.element_bytes);
  }
  uint32_t arrived = 0;
  if (at_root && !as_given) {
    arrived = c.add({.scope = Scope::kColumn, .moves = blocks.pack(packed, send_at(0))});
  }
  if (leads) {
    // What the root's own host gets does not pass here, so its ranks need not wait for it.
    Phase column{.scope = Scope::kColumn,
                 .collective = Collective::kScatterv,
                 .root = root_host,
                 .layouts = {{}, {{at_root ? 0 : blocks.count(c.host())}, {0}}},
                 .send = packed,
                 .recv = packed};
    for (int host = 0; at_root && host < c.hosts(); ++host) {
      column.layouts.send.counts.push_back(host == root_host ? 0 : blocks.count(host));
      column.layouts.send.offsets.push_back(blocks.begin(host));
    }
    const uint32_t scattered = c.add(std::move(column));
    if (!at_root) arrived = scattered;
  }
  c.add({.collective = Collective::kScatter,
         .root = root_place,
         .count = q.count,
         .send = at_root ? packed.plus(blocks.offset(c.host())) : packed,
         .recv = at_root && q.in_place ? send_at(block_at(q, q.rank)) : recv_at(0),
         .after = arrived});
  return c.take();
}

}  // namespace

const Algorithm scatter_hierarchical = {"hierarchical",
                                        "to one rank of each host, and from there",
                                        Collective::kScatter,
                                        true,
                                        roots_column_spans_hosts,
                                        seconds,
                                        nullptr,
                                        compose};

}  // namespace tutti
