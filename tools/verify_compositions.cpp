// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Proves compositions: takes each phase for what it promises (its algorithms are proved by
// themselves) and looks whether the phases of all ranks come together, in what order they may
// happen, and what they do together.
#include <fmt/format.h>

#include <algorithm>

#include "sched/verify_parts.hpp"
#include "tools/verify_cases.hpp"

namespace {

using tutti::Blocks;
using tutti::Code;
using tutti::Collective;
using tutti::Composition;
using tutti::Hosts;
using tutti::kScopes;
using tutti::Phase;
using tutti::Problem;
using tutti::Range;
using tutti::Ref;
using tutti::Run;
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

class Proof {
 public:
  Proof(const tutti::Algorithm& algorithm, std::span<const Problem> problems, const Hosts& hosts)
      : algorithm_(algorithm),
        problems_(problems),
        common_(problems_.common()),
        hosts_(hosts),
        groups_(groups_of(hosts)),
        schedules_(static_cast<size_t>(common_.ranks)),
        memories_(schedules_, problems_, false),
        values_(common_.ranks) {
    for (int rank = 0; rank < common_.ranks; ++rank) {
      Problem problem = problems_.of(rank);
      problem.rank = rank;
      ranks_.push_back({.composition = algorithm.compose(problem), .next = {}, .done = {}});
      steps_ += ranks_.back().composition.phases.size();
    }
  }

  [[nodiscard]] size_t steps() const { return steps_; }
  Status check() {
    for (int rank = 0; rank < common_.ranks; ++rank) TUTTI_RETURN_IF_ERROR(check_overlap(rank));
    for (bool moved = true; moved;) {
      moved = false;
      for (int rank = 0; rank < common_.ranks; ++rank) {
        for (const Scope scope : {Scope::kHost, Scope::kColumn}) {
          while (moves_next(rank, scope)) {
            TUTTI_RETURN_IF_ERROR(move(rank, scope));
            moved = true;
          }
        }
      }
      for (const Group& group : groups_) {
        while (ready(group)) {
          TUTTI_RETURN_IF_ERROR(run(group));
          moved = true;
        }
      }
    }
    for (int rank = 0; rank < common_.ranks; ++rank) {
      const State& state = ranks_[static_cast<size_t>(rank)];
      if (state.done[0] + state.done[1] == state.composition.phases.size()) continue;
      return Status::format(Code::kInternal, "rank {} ends with {} and {} of its {} phases done",
                            rank, state.done[0], state.done[1], state.composition.phases.size());
    }
    return check_results(problems_, {algorithm_.name, algorithm_.rank_order}, memories_, values_);
  }

 private:
  struct State {
    Composition composition;
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

  // Block `index` of a buffer, in bytes.
  [[nodiscard]] Range block(const Phase& phase, const tutti::Layout& layout, size_t index) const {
    const uint64_t size = common_.element_bytes;
    if (layout.counts.empty()) return {index * phase.count * size, phase.count * size};
    return {layout.offsets[index] * size, layout.counts[index] * size};
  }
  static size_t blocks(Blocks kind, size_t ranks) {
    return kind == Blocks::kPerRank ? ranks : kind == Blocks::kOne ? 1 : 0;
  }

  Status check_inside(int rank, const Ref& ref, const Range& range) {
    const uint64_t scratch = state_of(rank).composition.scratch_bytes;
    if (inside(problems_, rank, scratch, ref.plus(range.offset), range.bytes)) return {};
    return Status::format(Code::kInternal, "a phase of rank {} uses {} B at {}, outside the buffer",
                          rank, range.bytes, to_string(ref.plus(range.offset)));
  }
  Status read(int rank, const Ref& ref, const Range& range, std::vector<Run>& runs) {
    if (range.bytes == 0) return {};
    TUTTI_RETURN_IF_ERROR(check_inside(rank, ref, range));
    return memories_.read(rank, SIZE_MAX, ref.plus(range.offset), range.bytes, false, runs);
  }
  Status write(int rank, const Ref& ref, const Range& range, std::span<const Run> runs) {
    if (range.bytes == 0) return {};
    TUTTI_RETURN_IF_ERROR(check_inside(rank, ref, range));
    return memories_.write(rank, SIZE_MAX, ref.plus(range.offset), runs);
  }

  Status run(const Group& group) {
    std::vector<const Phase*> phases;
    for (const int rank : group.ranks) phases.push_back(next(rank, group.scope));
    TUTTI_RETURN_IF_ERROR(check_agreement(group, phases));
    TUTTI_RETURN_IF_ERROR(perform(group, phases));
    for (const int rank : group.ranks) end_phase(rank, group.scope);
    return {};
  }

  Status move(int rank, Scope scope) {
    for (const tutti::Move& move : next(rank, scope)->moves) {
      std::vector<Run> runs;
      TUTTI_RETURN_IF_ERROR(read(rank, move.from, {0, move.bytes}, runs));
      TUTTI_RETURN_IF_ERROR(write(rank, move.to, {0, move.bytes}, runs));
    }
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

  Status perform(const Group& group, std::span<const Phase* const> phases) {
    const size_t n = phases.size();
    const Collective collective = phases[0]->collective;
    const auto root = static_cast<size_t>(std::max(phases[0]->root, 0));
    switch (collective) {
      case Collective::kBarrier: return {};
      case Collective::kBroadcast: {
        std::vector<Run> runs;
        const Range whole = block(*phases[0], {}, 0);
        TUTTI_RETURN_IF_ERROR(read(group.ranks[root], phases[root]->recv, whole, runs));
        for (size_t i = 0; i < n; ++i) {
          if (i == root) continue;
          TUTTI_RETURN_IF_ERROR(write(group.ranks[i], phases[i]->recv, whole, runs));
        }
        return {};
      }
      case Collective::kAllgatherv:
      case Collective::kAlltoall:
      case Collective::kAlltoallv:
      case Collective::kGather:
      case Collective::kGatherv:
      case Collective::kScatter:
      case Collective::kScatterv: return exchange(group, phases);
      case Collective::kAllreduce:
      case Collective::kReduce:
      case Collective::kReduceScatterv: return reduce(group, phases);
      default: break;
    }
    return Status::format(Code::kInternal, "no phase is a {} yet", collective_name(collective));
  }

  // What each gives each other, all of it before any is taken.
  Status exchange(const Group& group, std::span<const Phase* const> phases) {
    struct Parcel {
      size_t sender;
      size_t receiver;
      std::vector<Run> runs;
    };
    std::vector<Parcel> parcels;
    const auto kinds = [&](size_t i) {
      return blocks_of(phases[i]->collective, static_cast<int>(i) == phases[i]->root);
    };
    for (size_t sender = 0; sender < phases.size(); ++sender) {
      for (size_t receiver = 0; receiver < phases.size(); ++receiver) {
        const Blocks gives = kinds(sender).send;
        const Blocks takes = kinds(receiver).recv;
        if (gives == Blocks::kNone || takes == Blocks::kNone) continue;
        const size_t given_block = gives == Blocks::kPerRank ? receiver : 0;
        const size_t taken_block = takes == Blocks::kPerRank ? sender : 0;
        const Range given = block(*phases[sender], phases[sender]->layouts.send, given_block);
        const Range taken = block(*phases[receiver], phases[receiver]->layouts.recv, taken_block);
        if (given.bytes != taken.bytes) {
          return Status::format(Code::kInternal, "in a {}, rank {} gives {} B to rank {}, not {}",
                                collective_name(phases[sender]->collective), group.ranks[sender],
                                given.bytes, group.ranks[receiver], taken.bytes);
        }
        parcels.push_back({sender, receiver, {}});
        TUTTI_RETURN_IF_ERROR(
            read(group.ranks[sender], phases[sender]->send, given, parcels.back().runs));
      }
    }
    for (const Parcel& parcel : parcels) {
      const Phase& phase = *phases[parcel.receiver];
      const bool apart = kinds(parcel.receiver).recv == Blocks::kPerRank;
      const Range place = block(phase, phase.layouts.recv, apart ? parcel.sender : 0);
      TUTTI_RETURN_IF_ERROR(write(group.ranks[parcel.receiver], phase.recv, place, parcel.runs));
    }
    return {};
  }

  Status reduce(const Group& group, std::span<const Phase* const> phases) {
    const size_t n = phases.size();
    const bool scatters = phases[0]->collective == Collective::kReduceScatterv;
    std::vector<std::vector<Run>> results(scatters ? n : 1);
    for (size_t b = 0; b < results.size(); ++b) {
      std::vector<std::vector<Run>> sources(n);
      const Range range = block(*phases[0], phases[0]->layouts.send, b);
      if (range.bytes == 0) continue;
      for (size_t i = 0; i < n; ++i) {
        TUTTI_RETURN_IF_ERROR(read(group.ranks[i], phases[i]->send,
                                   block(*phases[i], phases[i]->layouts.send, b), sources[i]));
      }
      TUTTI_RETURN_IF_ERROR(
          reduce_runs(sources, common_.element_bytes, phases[0]->finishes, values_, results[b]));
    }
    for (size_t i = 0; i < n; ++i) {
      if (phases[0]->collective == Collective::kReduce && static_cast<int>(i) != phases[0]->root)
        continue;
      const Range place = block(*phases[i], phases[i]->layouts.recv, 0);
      TUTTI_RETURN_IF_ERROR(
          write(group.ranks[i], phases[i]->recv, place, results[scatters ? i : 0]));
    }
    return {};
  }

  // ---- side by side ----------------------------------------------------------------------------

  struct Use {
    Ref ref;
    Range range;
    bool writes;
  };
  [[nodiscard]] std::vector<Use> uses(int rank, const Phase& phase) const {
    const int own = phase.scope == Scope::kHost ? hosts_.place(rank) : hosts_.host(rank);
    const tutti::BufferBlocks kinds = blocks_of(phase.collective, own == phase.root);
    const bool only_gives = phase.collective == Collective::kBroadcast && own == phase.root;
    std::vector<Use> list;
    for (const tutti::Move& move : phase.moves) {
      if (move.bytes == 0) continue;
      list.push_back({move.from, {0, move.bytes}, false});
      list.push_back({move.to, {0, move.bytes}, true});
    }
    if (!phase.moves.empty()) return list;
    const size_t members = phase.scope == Scope::kHost ? hosts_.neighbors(rank).size()
                                                       : static_cast<size_t>(hosts_.count());
    const auto add = [&](Blocks kind, const Ref& ref, const tutti::Layout& layout, bool writes) {
      const size_t count = layout.counts.empty() ? blocks(kind, members) : layout.counts.size();
      for (size_t i = 0; i < count; ++i) {
        const Range range = block(phase, layout, i);
        if (range.bytes > 0) list.push_back({ref, range, writes});
      }
    };
    add(kinds.send, phase.send, phase.layouts.send, false);
    add(kinds.recv, phase.recv, phase.layouts.recv, !only_gives);
    return list;
  }

  // Phases of the two scopes that nothing orders must not touch the same memory.
  Status check_overlap(int rank) {
    const Composition& composition = state_of(rank).composition;
    struct Ordered {
      const Phase* phase;
      uint32_t number;
      uint32_t after;  // of all in its scope so far
    };
    std::vector<Ordered> lists[kScopes];
    for (const Phase& phase : composition.phases) {
      auto& list = lists[static_cast<size_t>(phase.scope)];
      const uint32_t before = list.empty() ? 0 : list.back().after;
      list.push_back(
          {&phase, static_cast<uint32_t>(list.size()) + 1, std::max(before, phase.after)});
    }
    for (const Ordered& a : lists[0]) {
      for (const Ordered& b : lists[1]) {
        if (a.number <= b.after || b.number <= a.after) continue;
        for (const Use& x : uses(rank, *a.phase)) {
          for (const Use& y : uses(rank, *b.phase)) {
            if (!(x.writes || y.writes) || !overlap(rank, x, y)) continue;
            return Status::format(Code::kInternal,
                                  "on rank {}, phase {} within the host ({}) and phase {} between "
                                  "hosts ({}) touch the same memory; nothing orders them",
                                  rank, a.number, collective_name(a.phase->collective), b.number,
                                  collective_name(b.phase->collective));
          }
        }
      }
    }
    return {};
  }

  bool overlap(int rank, const Use& x, const Use& y) const {
    const tutti::Place a = place_of(problems_, rank, x.ref.plus(x.range.offset));
    const tutti::Place b = place_of(problems_, rank, y.ref.plus(y.range.offset));
    return a.space == b.space && a.begin < b.begin + y.range.bytes &&
           b.begin < a.begin + x.range.bytes;
  }

  const tutti::Algorithm& algorithm_;
  const tutti::Problems problems_;
  const Problem& common_;
  const Hosts& hosts_;
  const std::vector<Group> groups_;
  std::vector<tutti::Schedule> schedules_;
  tutti::RankMemories memories_;
  tutti::Values values_;
  std::vector<State> ranks_;
  size_t steps_ = 0;
};

}  // namespace

void prove_composition(const tutti::Algorithm& algorithm, int ranks, ProofTally& tally) {
  std::vector<std::vector<Problem>> cases = verify_cases(algorithm.collective, ranks);
  std::erase_if(cases, [](const auto& problems) { return problems[0].limits.slots.shared(); });
  for (const Hosts& hosts : shapes_of(ranks)) {
    for (std::vector<Problem> problems : cases) {
      for (Problem& problem : problems) {
        problem.hosts = &hosts;
        // Some are to pass in several chunks.
        if (problem.stride == problem.count && problem.bytes() > (200 << 10)) {
          problem.count = problem.stride = problem.count * 60;
        }
      }
      const tutti::Applies applies = algorithm.applies(problems[0]);
      if (!applies.yes) {
        ++tally.skipped[std::string(applies.why_not)];
        continue;
      }
      Proof proof(algorithm, problems, hosts);
      ++tally.proofs;
      tally.steps += proof.steps();
      const Status status = proof.check();
      if (status.ok()) continue;
      tally.failures.push_back(
          fmt::format("{} {}, {} ranks on {} hosts, root {}, {} x {} B{}: {}",
                      collective_name(algorithm.collective), algorithm.name, ranks, hosts.count(),
                      problems[0].root, problems[0].count, problems[0].element_bytes,
                      problems[0].in_place ? ", in place" : "", status.message()));
      return;
    }
  }
}
