// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Proves compositions. Each phase is taken to do what its collective promises, for the algorithms
// are proved by themselves. Proved is that the phases of all ranks come together, that phases which
// nothing orders do not touch the same memory, and that all together give the result; where hosts
// are in groups, with the compositions of columns in the place of their phases.
#include <fmt/format.h>

#include <algorithm>

#include "tools/verify_cases.hpp"
#include "tools/verify_nested.hpp"

namespace {

using tutti::Hosts;
using tutti::Problem;
using tutti::Status;

// With hosts in groups there is more to a proof: of some of the numbers of ranks.
constexpr int kMostRanksInGroups = 17;

class Proof {
 public:
  Proof(const tutti::Algorithm& algorithm, std::span<const Problem> problems, const Hosts& hosts)
      : algorithm_(algorithm), problems_(problems), hosts_(hosts), effects_(problems_) {
    for (int rank = 0; rank < problems_.common().ranks; ++rank) {
      Problem problem = problems_.of(rank);
      problem.rank = rank;
      compositions_.push_back(algorithm.compose(problem));
      effects_.set_scratch(rank, compositions_.back().scratch_bytes);
      steps_ += compositions_.back().phases.size();
    }
  }

  [[nodiscard]] size_t steps() const { return steps_; }
  // How many of them are of compositions of columns.
  [[nodiscard]] size_t nested() const { return nested_; }
  Status check(NestedPhases::AlgorithmOf within_columns) {
    std::vector<uint64_t> scratch_bytes;
    for (size_t rank = 0; rank < compositions_.size(); ++rank) {
      scratch_bytes.push_back(compositions_[rank].scratch_bytes);
      TUTTI_RETURN_IF_ERROR(
          check_overlap(compositions_[rank], problems_, hosts_, static_cast<int>(rank)));
    }
    NestedPhases phases(hosts_, problems_.common().element_bytes, within_columns,
                        std::move(scratch_bytes), effects_);
    TUTTI_RETURN_IF_ERROR(walk(hosts_, compositions_, phases));
    nested_ = phases.nested();
    steps_ += nested_;
    return effects_.check_results({algorithm_.name, algorithm_.rank_order});
  }

 private:
  const tutti::Algorithm& algorithm_;
  const tutti::Problems problems_;
  const Hosts& hosts_;
  PhaseEffects effects_;
  std::vector<tutti::Composition> compositions_;
  size_t steps_ = 0;
  size_t nested_ = 0;
};

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
                    NestedPhases::AlgorithmOf within_columns, ProofTally& tally) {
  for (std::vector<Problem>& problems :
       cases_of(algorithm, static_cast<int>(hosts.host_of.size()))) {
    for (Problem& problem : problems) problem.hosts = &hosts;
    const tutti::Applies applies = algorithm.applies(problems[0]);
    if (!applies.yes) {
      ++tally.skipped[std::string(applies.why_not)];
      continue;
    }
    Proof proof(algorithm, problems, hosts);
    const Status status = proof.check(within_columns);
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
