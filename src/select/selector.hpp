// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Which algorithm a call uses: the one that a variable demands (CCL_ALLREDUCE and its like) if it
// applies, else the cheapest that does by the cost model.
//
// All ranks must come to the same choice, so it is a function of the settings and of what is the
// same on every rank: never of Problem::rank, in_place or layouts.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "env/env.hpp"
#include "select/rules.hpp"

namespace tutti {

// The staging that algorithms get with these settings, on ranks that share memory.
Limits limits_of(const Environment& environment);

// The machine as that many ranks see it that share that many cores.
Machine machine_for(int ranks, int cores);

struct Candidate {
  const Algorithm* algorithm = nullptr;
  bool applies = false;
  std::string_view why_not;  // it does not apply, or strict mode excludes it
  double seconds = 0;        // by the cost model, if it applies
};

struct Choice {
  const Algorithm* algorithm = nullptr;  // nullptr: none applies
  std::string origin;                    // "CCL_ALLREDUCE", "cost model", ...
  std::string note;  // why the algorithm that a variable demands was passed over; else empty
  std::vector<Candidate> candidates;  // all of the collective, in the order of registry.inc
};

// Immutable; any thread.
class Selector {
 public:
  // An error names the variable and what was expected. What oneCCL's names stand for here goes to
  // the log at level info.
  static Result<Selector> create(const Environment& environment, const Machine& machine);

  // The algorithm for a call, nullptr if none applies. `problem` is the whole call, before it is
  // divided among lanes: rules and costs are about its size.
  [[nodiscard]] const Algorithm* choose(const Problem& problem) const;
  // The same with all reasons.
  [[nodiscard]] Choice explain(const Problem& problem) const;

 private:
  Selector(const Machine& machine, bool strict) : machine_(machine), strict_(strict) {}
  [[nodiscard]] Applies usable(const Algorithm& algorithm, const Problem& problem) const;
  [[nodiscard]] const Rule* rule_for(const Problem& problem) const;
  [[nodiscard]] const Algorithm* cheapest(const Problem& problem) const;

  Machine machine_;
  bool strict_;
  std::array<std::vector<Rule>, kCollectives> rules_;
};

}  // namespace tutti
