// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Proofs of compositions whose columns run compositions: that they hold, and that they find what is
// wrong in a column's.
#include <gtest/gtest.h>

#include "tools/verify_cases.hpp"

namespace {

using tutti::Algorithm;
using tutti::Collective;
using tutti::Composition;
using tutti::Phase;
using tutti::Problem;
using tutti::Scope;
using tutti::tools::ProofTally;

const Algorithm& hierarchical(Collective collective) {
  return *tutti::find_algorithm(collective, "hierarchical");
}

// 4 hosts of 2 ranks, in 2 groups.
tutti::Hosts two_groups() {
  tutti::Hosts hosts = tutti::Hosts::of(std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3});
  hosts.group_by(std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1});
  return hosts;
}

// What a proof says of allreduce where an allreduce of a column is composed like this.
ProofTally proved_with(Composition (*compose)(const Problem&)) {
  static Algorithm mutant;
  mutant = hierarchical(Collective::kAllreduce);
  mutant.compose = compose;
  ProofTally tally;
  prove_on_hosts(
      hierarchical(Collective::kAllreduce), two_groups(),
      [](Collective collective) -> const Algorithm* {
        return collective == Collective::kAllreduce ? &mutant : nullptr;
      },
      tally);
  return tally;
}

Composition composed(const Problem& problem) {
  return hierarchical(Collective::kAllreduce).compose(problem);
}

std::string failure_with(Composition (*compose)(const Problem&)) {
  const ProofTally tally = proved_with(compose);
  return tally.failures.empty() ? "" : tally.failures.front();
}

TEST(NestedProof, HoldsForEveryCompositionOnHostsInGroups) {
  for (const Algorithm* algorithm : tutti::algorithms()) {
    if (algorithm->compose == nullptr) continue;
    ProofTally tally;
    prove_on_hosts(
        *algorithm, two_groups(),
        [](Collective collective) { return tutti::find_algorithm(collective, "hierarchical"); },
        tally);
    EXPECT_TRUE(tally.failures.empty()) << tally.failures.front();
    EXPECT_GT(tally.proofs, 0) << collective_name(algorithm->collective);
  }
}

TEST(NestedProof, IsOfTheCompositionsOfColumns) {
  const ProofTally tally = proved_with(composed);
  EXPECT_TRUE(tally.failures.empty()) << tally.failures.front();
  EXPECT_GT(tally.nested, 0);
}

TEST(NestedProof, FindsAPhaseThatIsMissing) {
  const std::string failure = failure_with([](const Problem& problem) {
    Composition composition = composed(problem);
    composition.phases.pop_back();
    return composition;
  });
  EXPECT_NE(failure.find("2 groups"), std::string::npos) << failure;
}

TEST(NestedProof, FindsAPhaseThatWaitsForNothing) {
  const std::string failure = failure_with([](const Problem& problem) {
    Composition composition = composed(problem);
    for (Phase& phase : composition.phases) {
      if (phase.scope == Scope::kColumn) phase.after = 0;
    }
    return composition;
  });
  EXPECT_NE(failure.find("nothing orders them"), std::string::npos) << failure;
}

TEST(NestedProof, FindsAPhaseThatNobodyElseIsIn) {
  const std::string failure = failure_with([](const Problem& problem) {
    Composition composition = composed(problem);
    if (problem.rank == 1) composition.phases.front().collective = Collective::kBarrier;
    return composition;
  });
  EXPECT_NE(failure.find("different phases"), std::string::npos) << failure;
}

}  // namespace
