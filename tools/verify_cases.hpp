// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The cases of `tutti verify` for one algorithm and number of ranks: the problems in which
// schedules take different shapes. Also the tally of their proofs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "algorithms/algorithm.hpp"

namespace tutti::tools {

// Sizes from nothing to several pipeline stages, with tails that fill neither a line nor a part.
// Every root; in place and not; with gaps between blocks. With messages only, with staging so tight
// that it is reused, and as it is by default. Proofs cost the same for any size, only the number of
// steps counts. Each case is one problem for all ranks, or, where blocks differ in size, one for
// each.
std::vector<std::vector<Problem>> verify_cases(Collective collective, int ranks);

// Hosts, or domains of one, with as many ranks each and not, neighbors and dealt out; several of
// each.
std::vector<Hosts> shapes_of(int ranks);

// Shapes with hosts in groups.
std::vector<Hosts> shapes_in_groups(int ranks);

struct ProofTally {
  uint64_t proofs = 0;
  uint64_t nested = 0;                      // proofs in which calls of columns are composed
  uint64_t steps = 0;                       // of all ranks in all proofs
  std::map<std::string, uint64_t> skipped;  // problems to which it does not apply, by reason
  std::vector<std::string> failures;
};

using AlgorithmOf = const Algorithm* (*)(Collective);

// Adds to the tally; gives up after the first failure.
void prove_algorithm(const Algorithm& algorithm, int ranks, ProofTally& tally);
// Proves an algorithm that is a composition.
void prove_composition(const Algorithm& algorithm, int ranks, ProofTally& tally);
// Proves it on these hosts. If they are in groups, calls of columns are compositions themselves.
// `within_columns` gives these for their collective, if it applies.
void prove_on_hosts(const Algorithm& algorithm, const Hosts& hosts, AlgorithmOf within_columns,
                    ProofTally& tally);

}  // namespace tutti::tools
