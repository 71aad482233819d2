// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A composition: a collective on several hosts, made of collectives within each host and of
// collectives between hosts. It is plain data, like a schedule. The algorithm of a phase is chosen
// when the plan is made, by the same selector as for a call of its own.
//
// If blocks lie otherwise than the next collective needs them, a phase can copy instead, or reduce
// data in this rank's memory (Move).
//
// Phases of one scope run in their order. The two scopes run side by side, so that the network is
// busy with one part of a message while the host works on another.
#pragma once

#include <cstdint>
#include <vector>

#include "core/hosts.hpp"
#include "sched/problem.hpp"
#include "sched/schedule.hpp"

namespace tutti {

enum class Scope : uint8_t {
  kHost,    // the ranks of this host, by their place
  kColumn,  // ranks at the same place of every host, by host
};
inline constexpr int kScopes = 2;

// A copy from one place of this rank to another: kSend, kRecv or kScratch, which do not overlap.
struct Move {
  Ref to;
  Ref from;
  uint64_t bytes = 0;
  // If there are any: `from` and these are reduced in their order, which completes the reduction
  // over all ranks. No phase of such a composition reduces otherwise.
  std::vector<Ref> others = {};
};

struct Phase {
  Scope scope = Scope::kHost;
  Collective collective = Collective::kBarrier;
  bool begins = false;    // it reduces what the caller gave
  bool finishes = false;  // it completes the reduction over all ranks
  int root = -1;          // numbered within the scope
  uint64_t count = 0;     // Problem::count of the phase
  BlockLayouts layouts = {};
  Ref send = {};  // a place in kSend, kRecv or kScratch
  Ref recv = {};
  // Begins when so many phases of the other scope are complete on this rank.
  uint32_t after = 0;
  bool alone = false;  // no other column sends meanwhile
  // If there are any, the phase does nothing else, and this rank does them alone. Blocks that a
  // collective needs side by side, or leaves so, may lie apart in the caller's buffers. Or all that
  // is to be reduced has come to this rank.
  std::vector<Move> moves = {};
};

struct Composition {
  std::vector<Phase> phases;  // phases that this rank takes part in
  uint64_t scratch_bytes = 0;
};

}  // namespace tutti
