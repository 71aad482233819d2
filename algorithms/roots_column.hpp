// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Common parts of hierarchical gather and scatter. The leaders are the root and the rank at its
// place on each other host. They pass all blocks of a host in one message.
#pragma once

#include "algorithms/hierarchical.hpp"

namespace tutti {

class RootsColumn {
 public:
  // `buffer` is the root's, with a block for each rank.
  RootsColumn(const Problem& q, Composer& c, const Ref& buffer)
      : blocks(q),
        place(q.hosts->place(q.root)),
        at_root(q.rank == q.root),
        leads(c.place() == place),
        repacks(at_root && !blocks.as_given()),
        packed(buffer),
        hosts_(c.hosts()),
        host_(c.host()),
        root_host_(q.hosts->host(q.root)) {
    if (repacks) packed = c.scratch(all_blocks_bytes(q));
    if (leads && !at_root) packed = c.scratch(blocks.count(host_) * q.element_bytes);
  }

  // The blocks of this rank's host, in `packed`.
  [[nodiscard]] Ref of_this_host() const {
    return at_root ? packed.plus(blocks.offset(host_)) : packed;
  }
  // Blocks of the root's own host do not pass along the column, so that neither it nor its ranks
  // wait for that.
  [[nodiscard]] Phase phase(Collective collective) const {
    return {.scope = Scope::kColumn,
            .collective = collective,
            .root = root_host_,
            .send = packed,
            .recv = packed};
  }
  // A leader's own part of it, and what the root has for each host.
  [[nodiscard]] BlockLayout own() const { return {{at_root ? 0 : blocks.count(host_)}, {0}}; }
  [[nodiscard]] BlockLayout by_host() const {
    BlockLayout layout;
    for (int host = 0; at_root && host < hosts_; ++host) {
      layout.counts.push_back(host == root_host_ ? 0 : blocks.count(host));
      layout.offsets.push_back(blocks.begin(host));
    }
    return layout;
  }

  const BlocksByHost blocks;
  const int place;  // of the root and the leaders
  const bool at_root;
  const bool leads;
  const bool repacks;  // the root's buffer does not have them by host
  Ref packed;          // at the root all blocks by host, at the leaders those of their host

 private:
  const int hosts_;
  const int host_;
  const int root_host_;
};

// T of `direct` along the column, with the blocks of a whole host each, and one phase within it.
// That such messages may be asked for where the blocks by themselves are not counts.
template <const Algorithm& direct>
double through_roots_column_s(const Problem& q, const Machine& m) {
  const Problem column = along_column(q);
  return direct.seconds(column, m) + host_phase_s(q, m) +
         host_hand_s(column.bytes() - q.bytes(), m);
}

}  // namespace tutti
