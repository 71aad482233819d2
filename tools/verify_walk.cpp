// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/verify_walk.hpp"

#include <algorithm>
#include <vector>

namespace {

using tutti::Code;
using tutti::Composition;
using tutti::Hosts;
using tutti::kScopes;
using tutti::Phase;
using tutti::Scope;
using tutti::Status;

// The ranks that run a phase together.
struct Group {
  Scope scope;
  std::vector<int> ranks;
};

std::vector<Group> groups_of(const Hosts& hosts) {
  std::vector<Group> groups;
  for (const std::vector<int>& ranks : hosts.ranks_of) groups.push_back({Scope::kHost, ranks});
  for (int place = 0; place < hosts.columns(); ++place) {
    groups.push_back({Scope::kColumn, hosts.column(place)});
  }
  return groups;
}

class Walk {
 public:
  Walk(const Hosts& hosts, std::span<const Composition> compositions, PhaseSink& sink)
      : groups_(groups_of(hosts)), sink_(sink) {
    for (const Composition& composition : compositions) {
      ranks_.push_back({.composition = composition, .next = {}, .done = {}});
    }
  }

  Status run_all() {
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t rank = 0; rank < ranks_.size(); ++rank) {
        for (const Scope scope : {Scope::kHost, Scope::kColumn}) {
          for (; moves_next(static_cast<int>(rank), scope); moved = true) {
            TUTTI_RETURN_IF_ERROR(move(static_cast<int>(rank), scope));
          }
        }
      }
      for (const Group& group : groups_) {
        for (; ready(group); moved = true) TUTTI_RETURN_IF_ERROR(run(group));
      }
    }
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      const State& state = ranks_[rank];
      if (state.done[0] + state.done[1] == state.composition.phases.size()) continue;
      return Status::format(Code::kInternal, "rank {} ends with {} and {} of its {} phases done",
                            rank, state.done[0], state.done[1], state.composition.phases.size());
    }
    return {};
  }

 private:
  struct State {
    const Composition& composition;
    size_t next[kScopes];
    uint32_t done[kScopes];
  };

  State& state_of(int rank) { return ranks_[static_cast<size_t>(rank)]; }

  // The rank's next phase of that scope; null if there is none.
  const Phase* next(int rank, Scope scope) {
    State& state = state_of(rank);
    size_t& at = state.next[static_cast<size_t>(scope)];
    while (at < state.composition.phases.size() && state.composition.phases[at].scope != scope)
      ++at;
    return at < state.composition.phases.size() ? &state.composition.phases[at] : nullptr;
  }

  bool may_begin(int rank, const Phase& phase) {
    const Scope other = phase.scope == Scope::kHost ? Scope::kColumn : Scope::kHost;
    return state_of(rank).done[static_cast<size_t>(other)] >= phase.after;
  }
  bool ready(const Group& group) {
    return std::ranges::all_of(group.ranks, [&](int rank) {
      const Phase* phase = next(rank, group.scope);
      return phase != nullptr && phase->moves.empty() && may_begin(rank, *phase);
    });
  }
  bool moves_next(int rank, Scope scope) {
    const Phase* phase = next(rank, scope);
    return phase != nullptr && !phase->moves.empty() && may_begin(rank, *phase);
  }
  void end_phase(int rank, Scope scope) {
    ++state_of(rank).next[static_cast<size_t>(scope)];
    ++state_of(rank).done[static_cast<size_t>(scope)];
  }

  Status run(const Group& group) {
    std::vector<const Phase*> phases;
    for (const int rank : group.ranks) phases.push_back(next(rank, group.scope));
    TUTTI_RETURN_IF_ERROR(check_agreement(group, phases));
    TUTTI_RETURN_IF_ERROR(sink_.perform(group.scope, group.ranks, phases));
    for (const int rank : group.ranks) end_phase(rank, group.scope);
    return {};
  }

  Status move(int rank, Scope scope) {
    TUTTI_RETURN_IF_ERROR(sink_.move(rank, next(rank, scope)->moves));
    end_phase(rank, scope);
    return {};
  }

  static Status check_agreement(const Group& group, std::span<const Phase* const> phases) {
    for (size_t i = 1; i < phases.size(); ++i) {
      const Phase& a = *phases[0];
      const Phase& b = *phases[i];
      if (a.collective == b.collective && a.root == b.root && a.count == b.count &&
          a.finishes == b.finishes && a.begins == b.begins) {
        continue;
      }
      return Status::format(Code::kInternal, "ranks {} and {} are in different phases: {} and {}",
                            group.ranks[0], group.ranks[i], collective_name(a.collective),
                            collective_name(b.collective));
    }
    return {};
  }

  const std::vector<Group> groups_;
  PhaseSink& sink_;
  std::vector<State> ranks_;
};

}  // namespace

Status walk(const Hosts& hosts, std::span<const Composition> compositions, PhaseSink& sink) {
  return Walk(hosts, compositions, sink).run_all();
}
