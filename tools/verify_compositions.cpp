// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Proves compositions. Each phase is taken to do what its collective promises, for the algorithms
// are proved by themselves. Proved are three things. The phases of all ranks come together; phases
// that nothing orders do not touch the same memory; all together give the result. If hosts are in
// groups, the compositions of columns take the place of their phases, on the memory of the whole
// call.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>

#include "comm/scopes.hpp"
#include "exec/plan_phases.hpp"
#include "tools/verify_cases.hpp"
#include "tools/verify_phases.hpp"

namespace tutti::tools {

namespace {

// With hosts in groups there is more to a proof: of some of the numbers of ranks.
constexpr int kMostRanksInGroups = 17;

tutti::DataType type_of(uint32_t bytes) {
  switch (bytes) {
    case 1: return tutti::DataType::kInt8;
    case 2: return tutti::DataType::kFloat16;
    case 8: return tutti::DataType::kFloat64;
    case 16: return tutti::DataType::kComplex128;
    default: return tutti::DataType::kFloat32;
  }
}

// A column's composition as one of the whole call, of which `call` is the phase that it replaces.
Composition in_whole(Composition composition, const Phase& call, uint64_t scratch_bytes) {
  const auto move = [&](Ref& ref) {
    ref = ref.space() == Space::kSend   ? call.send.plus(ref.offset)
          : ref.space() == Space::kRecv ? call.recv.plus(ref.offset)
                                        : ref.plus(scratch_bytes);
  };
  for (Phase& phase : composition.phases) {
    phase.begins &= call.begins;
    phase.finishes &= call.finishes;
    for (Ref* ref : {&phase.send, &phase.recv}) move(*ref);
    for (tutti::Move& each : phase.moves) {
      for (Ref* ref : {&each.to, &each.from}) move(*ref);
      for (Ref& other : each.others) move(other);
    }
  }
  return composition;
}

class Proof {
 public:
  // Both outlive it.
  Proof(std::span<const Problem> problems, AlgorithmOf within_columns)
      : within_columns_(within_columns), problems_(problems), effects_(problems_) {
    call_.type = type_of(problems_.common().element_bytes);
  }

  Status check(const tutti::Algorithm& algorithm, const Hosts& hosts);
  [[nodiscard]] size_t steps() const { return steps_ + nested_; }
  // How many of them are of compositions of columns.
  [[nodiscard]] size_t nested() const { return nested_; }

 private:
  class Walk;

  const AlgorithmOf within_columns_;
  const tutti::Problems problems_;
  PhaseEffects effects_;
  tutti::Call call_;                     // as far as phases depend on it
  std::vector<uint64_t> scratch_bytes_;  // scratch bytes by rank, without what columns need
  size_t steps_ = 0;
  size_t nested_ = 0;
};

// Takes ranks to the end of their compositions, in an order in which they may come to the phases.
// An error says who is in different phases, or who never gets to the end.
class Proof::Walk {
 public:
  // Walks all ranks, or those of a column, whose hosts are ranks then: ranks[i] is number i.
  Walk(Proof& proof, const Hosts& hosts, std::vector<int> ranks,
       std::vector<Composition> compositions)
      : proof_(proof), hosts_(hosts), ranks_(std::move(ranks)) {
    static const tutti::ScopeChoices kNobodyAsks;
    for (size_t i = 0; i < ranks_.size(); ++i) {
      states_.emplace_back(std::move(compositions[i]), hosts, static_cast<int>(i), kNobodyAsks);
    }
    for (const std::vector<int>& members : hosts.ranks_of) {
      groups_.push_back({Scope::kHost, members});
    }
    for (int place = 0; place < hosts.columns(); ++place) {
      groups_.push_back({Scope::kColumn, hosts.column(place)});
    }
  }

  Status run_all() {
    for (size_t i = 0; i < ranks_.size(); ++i) {
      TUTTI_RETURN_IF_ERROR(check_overlap(states_[i].composition, proof_.problems_,
                                          states_[i].scopes.of_call(), ranks_[i]));
    }
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t i = 0; i < ranks_.size(); ++i) {
        for (const Scope scope : {Scope::kHost, Scope::kColumn}) {
          for (; moves_next(states_[i], scope); moved = true) {
            TUTTI_RETURN_IF_ERROR(
                proof_.effects_.move(ranks_[i], states_[i].next_phase(scope)->moves));
            states_[i].end_phase(scope);
          }
        }
      }
      for (const Group& group : groups_) {
        for (; ready(group); moved = true) TUTTI_RETURN_IF_ERROR(run(group));
      }
    }
    for (size_t i = 0; i < ranks_.size(); ++i) {
      const State& state = states_[i];
      if (state.done[0] + state.done[1] == state.composition.phases.size()) continue;
      return Status::format(Code::kInternal, "rank {} ends with {} and {} of its {} phases done",
                            ranks_[i], state.done[0], state.done[1],
                            state.composition.phases.size());
    }
    return {};
  }

 private:
  // The state of one rank.
  struct State {
    State(Composition of_rank, const Hosts& hosts, int number, const tutti::ScopeChoices& choices)
        : composition(std::move(of_rank)), scopes(hosts, number, choices) {}

    // Null if there is none.
    const Phase* next_phase(Scope scope) {
      size_t& at = next[static_cast<size_t>(scope)];
      const std::vector<Phase>& phases = composition.phases;
      while (at < phases.size() && phases[at].scope != scope) ++at;
      return at < phases.size() ? &phases[at] : nullptr;
    }
    [[nodiscard]] bool may_begin(const Phase& phase) const {
      const Scope other = phase.scope == Scope::kHost ? Scope::kColumn : Scope::kHost;
      return done[static_cast<size_t>(other)] >= phase.after;
    }
    void end_phase(Scope scope) {
      ++next[static_cast<size_t>(scope)];
      ++done[static_cast<size_t>(scope)];
    }

    const Composition composition;
    const tutti::Scopes scopes;
    size_t next[kScopes] = {};
    uint32_t done[kScopes] = {};
  };
  // Ranks that run a phase together, by number.
  struct Group {
    Scope scope;
    std::vector<int> members;
  };

  State& state_of(int number) { return states_[static_cast<size_t>(number)]; }
  static bool moves_next(State& state, Scope scope) {
    const Phase* phase = state.next_phase(scope);
    return phase != nullptr && !phase->moves.empty() && state.may_begin(*phase);
  }
  bool ready(const Group& group) {
    return std::ranges::all_of(group.members, [&](int number) {
      const Phase* phase = state_of(number).next_phase(group.scope);
      return phase != nullptr && phase->moves.empty() && state_of(number).may_begin(*phase);
    });
  }

  Status run(const Group& group) {
    std::vector<const Phase*> phases;
    std::vector<int> ranks;
    for (const int number : group.members) {
      phases.push_back(state_of(number).next_phase(group.scope));
      ranks.push_back(ranks_[static_cast<size_t>(number)]);
    }
    TUTTI_RETURN_IF_ERROR(check_agreement(ranks, phases));
    TUTTI_RETURN_IF_ERROR(perform(group, ranks, phases));
    for (const int number : group.members) state_of(number).end_phase(group.scope);
    return {};
  }

  // Performs a call as its algorithm's phases, if a column's hosts are in groups and that applies.
  Status perform(const Group& group, const std::vector<int>& ranks,
                 std::span<const Phase* const> phases) {
    const bool grouped = group.scope == Scope::kColumn && hosts_.groups != nullptr;
    const tutti::Algorithm* const algorithm =
        grouped ? proof_.within_columns_(phases[0]->collective) : nullptr;
    std::vector<Problem> problems;
    for (size_t i = 0; algorithm != nullptr && i < ranks.size(); ++i) {
      const tutti::PlanContext& column =
          *state_of(group.members[i]).scopes.in_column(tutti::InColumn::kAll);
      const tutti::Call call = tutti::call_of_phase(*phases[i], proof_.call_);
      problems.push_back(tutti::problem_for(tutti::plan_key(call, column.rank), column));
    }
    if (algorithm == nullptr || !algorithm->applies(problems[0]).yes) {
      return proof_.effects_.perform(ranks, phases);
    }
    std::vector<Composition> compositions;
    for (size_t i = 0; i < ranks.size(); ++i) {
      const uint64_t before = proof_.scratch_bytes_[static_cast<size_t>(ranks[i])];
      compositions.push_back(in_whole(algorithm->compose(problems[i]), *phases[i], before));
      proof_.effects_.set_scratch(ranks[i], before + compositions.back().scratch_bytes);
      proof_.nested_ += compositions.back().phases.size();
    }
    return Walk(proof_, *hosts_.groups, ranks, std::move(compositions))
        .run_all()
        .with_context(fmt::format("the column of rank {}", ranks[0]));
  }

  static Status check_agreement(const std::vector<int>& ranks,
                                std::span<const Phase* const> phases) {
    for (size_t i = 1; i < phases.size(); ++i) {
      const Phase& a = *phases[0];
      const Phase& b = *phases[i];
      if (a.collective == b.collective && a.root == b.root && a.count == b.count &&
          a.finishes == b.finishes && a.begins == b.begins) {
        continue;
      }
      return Status::format(Code::kInternal, "ranks {} and {} are in different phases: {} and {}",
                            ranks[0], ranks[i], collective_name(a.collective),
                            collective_name(b.collective));
    }
    return {};
  }

  Proof& proof_;
  const Hosts& hosts_;
  const std::vector<int> ranks_;
  std::deque<State> states_;
  std::vector<Group> groups_;
};

Status Proof::check(const tutti::Algorithm& algorithm, const Hosts& hosts) {
  std::vector<Composition> compositions;
  std::vector<int> ranks;
  for (int rank = 0; rank < problems_.common().ranks; ++rank) {
    Problem problem = problems_.of(rank);
    problem.rank = rank;
    compositions.push_back(algorithm.compose(problem));
    scratch_bytes_.push_back(compositions.back().scratch_bytes);
    effects_.set_scratch(rank, scratch_bytes_.back());
    steps_ += compositions.back().phases.size();
    ranks.push_back(rank);
  }
  TUTTI_RETURN_IF_ERROR(Walk(*this, hosts, std::move(ranks), std::move(compositions)).run_all());
  return effects_.check_results({algorithm.name, algorithm.rank_order});
}

std::vector<std::vector<Problem>> cases_of(const tutti::Algorithm& algorithm, int ranks) {
  std::vector<std::vector<Problem>> cases = verify_cases(algorithm.collective, ranks);
  std::erase_if(cases, [](const auto& problems) { return problems[0].limits.slots.shared(); });
  for (std::vector<Problem>& problems : cases) {
    for (Problem& problem : problems) {
      // Some are to pass in several chunks.
      if (problem.stride == problem.count && problem.bytes() > (200 << 10)) {
        problem.count = problem.stride = problem.count * 60;
      }
    }
  }
  return cases;
}

std::string text_of(const tutti::Algorithm& algorithm, const Problem& problem, const Status& why) {
  const Hosts& hosts = *problem.hosts;
  const std::string groups =
      hosts.groups == nullptr ? "" : fmt::format(" in {} groups", hosts.groups->count());
  return fmt::format("{} {}, {} ranks on {} hosts{}, root {}, {} x {} B{}: {}",
                     collective_name(algorithm.collective), algorithm.name, problem.ranks,
                     hosts.count(), groups, problem.root, problem.count, problem.element_bytes,
                     problem.in_place ? ", in place" : "", why.message());
}

}  // namespace

void prove_on_hosts(const tutti::Algorithm& algorithm, const Hosts& hosts,
                    AlgorithmOf within_columns, ProofTally& tally) {
  for (std::vector<Problem>& problems :
       cases_of(algorithm, static_cast<int>(hosts.host_of.size()))) {
    for (Problem& problem : problems) problem.hosts = &hosts;
    const tutti::Applies applies = algorithm.applies(problems[0]);
    if (!applies.yes) {
      ++tally.skipped[std::string(applies.why_not)];
      continue;
    }
    Proof proof(problems, within_columns);
    const Status status = proof.check(algorithm, hosts);
    ++tally.proofs;
    if (proof.nested() > 0) ++tally.nested;
    tally.steps += proof.steps();
    if (status.ok()) continue;
    tally.failures.push_back(text_of(algorithm, problems[0], status));
    return;
  }
}

void prove_composition(const tutti::Algorithm& algorithm, int ranks, ProofTally& tally) {
  std::vector<Hosts> shapes = shapes_of(ranks);
  if (ranks <= kMostRanksInGroups) {
    for (Hosts& hosts : shapes_in_groups(ranks)) shapes.push_back(std::move(hosts));
  }
  const auto composed = [](tutti::Collective collective) {
    return tutti::find_algorithm(collective, "hierarchical");
  };
  for (const Hosts& hosts : shapes) {
    if (tally.failures.empty()) prove_on_hosts(algorithm, hosts, composed, tally);
  }
}

}  // namespace tutti::tools
