// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// An algorithm: a name, when it applies, what it costs, and how to build its schedule. One file
// each, but that those which differ in one argument share one (one_shot.hpp, Algorithm::of); to add
// one, write algorithms/<collective>_<name>.cpp, which defines
//   const Algorithm <collective>_<name> = {...};
// and add the line TUTTI_ALGORITHM(<collective>, <name>) to registry.inc. Its functions get:
//   Problem (sched/problem.hpp)  the call, on this rank; `q`
//   Machine (below)              figures for its cost, which cost.hpp combines; `m`
//   Builder (sched/builder.hpp)  takes the steps; `b`
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "algorithms/composition.hpp"
#include "sched/builder.hpp"
#include "sched/problem.hpp"
#include "sched/schedule.hpp"

namespace tutti {

// The machine as cost formulas see it: seconds, and seconds per byte. All ranks must have the same
// figures, or they would choose different algorithms.
struct Machine {
  double line_s = 70e-9;       // one cache line handed from core to core
  double line_next_s = 20e-9;  // each further line, when several are fetched at once
  // The times of lines from a core with another last-level cache (Problem::cache_domains): twice as
  // long, a careful guess from published figures (docs/notes/07).
  double line_far_s = 140e-9;
  double line_far_next_s = 40e-9;
  double turn_s = 350e-9;           // one rank's turn on a core that ranks share, at least
  double message_s = 600e-9;        // a message's start, from send to the begin of recv: alpha
  double step_s = 8e-9;             // one step of a schedule
  double copy_cached_s = 1 / 40e9;  // per byte, in the second-level cache
  double copy_memory_s = 1 / 14e9;  // per byte, from and to memory
  double handover_s = 1 / 12e9;     // per byte, reading what another core has written
  double takeover_s = 1 / 20e9;     // per byte, writing over what another core has read
  // Both rates hold if the place in staging moves from call to call over more than a second-level
  // cache. The lines then come from the third-level cache, faster than from another core.
  double walk_read_s = 1 / 40e9;
  double walk_write_s = 1 / 60e9;
  double message_byte_s = 1 / 5e9;  // per byte through the transport's messages, beta
  double pull_s = 450e-9;           // the start of a pull: pi
  double pull_cached_s = 1 / 30e9;  // per byte pulled, while the buffers fit the cache
  double pull_shared_s = 1 / 13e9;  // per byte, while they fit what the cores share
  double pull_memory_s = 1 / 5e9;   // per byte, beyond (Limits::non_temporal_bytes)
  double reduce_s = 1 / 60e9;       // per byte of source, cached: gamma
  uint64_t cache_bytes = 1 << 20;   // second-level cache of a core
  double ranks_per_core = 1;        // more if ranks outnumber the cores; the times above contain it
  // The machine of one host's ranks, if ranks are on several hosts; the messages above are then
  // those between hosts. Else null.
  std::shared_ptr<const Machine> host;
};

// Whether an algorithm can be used, and if not why ("the ranks share no memory").
struct Applies {
  bool yes = true;
  std::string_view why_not;
};

struct Algorithm {
  std::string_view name;
  std::string_view summary;  // one line for `tutti info`
  Collective collective;
  // Whether the algorithm reduces in rank order, or nothing. All that do give the same bits.
  bool rank_order;
  Applies (*applies)(const Problem&);
  double (*seconds)(const Problem&, const Machine&);
  // Either a schedule or a composition.
  void (*build)(const Problem&, Builder&) = nullptr;
  Composition (*compose)(const Problem&) = nullptr;
  bool by_cache_domains = false;  // the schedule depends on Problem::cache_domains

  // This algorithm for a collective whose blocks may differ in size; it may apply to fewer
  // problems.
  [[nodiscard]] constexpr Algorithm of(Collective other,
                                       Applies (*applies_to)(const Problem&) = nullptr) const {
    Algorithm algorithm = *this;
    algorithm.collective = other;
    if (applies_to != nullptr) algorithm.applies = applies_to;
    return algorithm;
  }
};

// The algorithm that a call uses, and those that it may try beside it, if not null. `other_route`
// pulls where the algorithm goes through staging, or the reverse. `with_other_stores` is one of the
// two with the other kind of stores to the receive buffer. They go past the caches where
// Limits::non_temporal_bytes says through them, or the reverse.
struct Chosen {
  const Algorithm* algorithm = nullptr;  // nullptr: none applies
  const Algorithm* other_route = nullptr;
  const Algorithm* with_other_stores = nullptr;
};

// Declared here, hence visible to the registry from the file that defines it.
#define TUTTI_ALGORITHM(collective, name) extern const Algorithm collective##_##name;
#include "algorithms/registry.inc"
#undef TUTTI_ALGORITHM

// All, in the order of registry.inc.
std::span<const Algorithm* const> algorithms();
// nullptr if there is none of that name.
const Algorithm* find_algorithm(Collective collective, std::string_view name);

// The schedule of one rank; `problem` must satisfy algorithm.applies.
Schedule build_schedule(const Algorithm& algorithm, const Problem& problem);

}  // namespace tutti
