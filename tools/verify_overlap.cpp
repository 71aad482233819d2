// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Whether phases of a composition that may run side by side leave one another's memory alone.
#include <algorithm>

#include "tools/verify_phases.hpp"

using tutti::Blocks;
using tutti::Phase;
using tutti::Range;
using tutti::Ref;
using tutti::Scope;
using tutti::Status;

namespace {

// The memory of one rank that a phase reads or writes.
struct Use {
  Ref ref;
  Range range;
  bool writes;
};

size_t number_of(Blocks blocks, size_t ranks) {
  return blocks == Blocks::kPerRank ? ranks : blocks == Blocks::kOne ? 1 : 0;
}

std::vector<Use> uses_of_moves(const Phase& phase) {
  std::vector<Use> uses;
  for (const tutti::Move& move : phase.moves) {
    if (move.bytes == 0) continue;
    uses.push_back({move.from, {0, move.bytes}, false});
    for (const tutti::Ref& other : move.others) uses.push_back({other, {0, move.bytes}, false});
    uses.push_back({move.to, {0, move.bytes}, true});
  }
  return uses;
}

std::vector<Use> uses_of(const Phase& phase, const tutti::Hosts& hosts, int rank,
                         uint32_t element_bytes) {
  if (!phase.moves.empty()) return uses_of_moves(phase);
  const bool within = phase.scope == Scope::kHost;
  const int own = within ? hosts.place(rank) : hosts.host(rank);
  const size_t members = within ? hosts.neighbors(rank).size() : static_cast<size_t>(hosts.count());
  std::vector<Use> uses;
  const auto add = [&](Blocks kind, const Ref& ref, const tutti::Layout& layout, bool writes) {
    const size_t count = layout.counts.empty() ? number_of(kind, members) : layout.counts.size();
    for (size_t i = 0; i < count; ++i) {
      const Range range = phase_block(phase, layout, i, element_bytes);
      if (range.bytes > 0) uses.push_back({ref, range, writes});
    }
  };
  const tutti::BufferBlocks kinds = blocks_of(phase.collective, own == phase.root);
  // The root of a broadcast reads its receive buffer.
  const bool reads = phase.collective == tutti::Collective::kBroadcast && own == phase.root;
  add(kinds.send, phase.send, phase.layouts.send, false);
  add(kinds.recv, phase.recv, phase.layouts.recv, !reads);
  return uses;
}

bool overlap(const tutti::Problems& problems, int rank, const Use& x, const Use& y) {
  const tutti::Place a = place_of(problems, rank, x.ref.plus(x.range.offset));
  const tutti::Place b = place_of(problems, rank, y.ref.plus(y.range.offset));
  return a.space == b.space && a.begin < b.begin + y.range.bytes &&
         b.begin < a.begin + x.range.bytes;
}

struct Numbered {
  const Phase* phase;
  uint32_t number;  // in its scope, from 1
  uint32_t after;   // how many of the other scope it comes after, as all later ones of its own do
};

std::vector<Numbered> numbered(const tutti::Composition& composition, Scope scope) {
  std::vector<Numbered> list;
  for (const Phase& phase : composition.phases) {
    if (phase.scope != scope) continue;
    const uint32_t before = list.empty() ? 0 : list.back().after;
    list.push_back({&phase, static_cast<uint32_t>(list.size()) + 1, std::max(before, phase.after)});
  }
  return list;
}

}  // namespace

Status check_overlap(const tutti::Composition& composition, const tutti::Problems& problems,
                     const tutti::Hosts& hosts, int rank) {
  const uint32_t element_bytes = problems.common().element_bytes;
  const auto touch = [&](const Phase& one, const Phase& other) {
    const std::vector<Use> others = uses_of(other, hosts, rank, element_bytes);
    return std::ranges::any_of(uses_of(one, hosts, rank, element_bytes), [&](const Use& x) {
      return std::ranges::any_of(others, [&](const Use& y) {
        return (x.writes || y.writes) && overlap(problems, rank, x, y);
      });
    });
  };
  const std::vector<Numbered> between = numbered(composition, Scope::kColumn);
  for (const Numbered& a : numbered(composition, Scope::kHost)) {
    for (const Numbered& b : between) {
      const bool ordered = a.number <= b.after || b.number <= a.after;
      if (ordered || !touch(*a.phase, *b.phase)) continue;
      return Status::format(tutti::Code::kInternal,
                            "on rank {}, phase {} within the host ({}) and phase {} between hosts "
                            "({}) touch the same memory; nothing orders them",
                            rank, a.number, collective_name(a.phase->collective), b.number,
                            collective_name(b.phase->collective));
    }
  }
  return {};
}
