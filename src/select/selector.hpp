// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Which algorithm a call uses. Four may name one, in this order: a variable (as CCL_ALLREDUCE), the
// communicator's tuner, the tuning file, the cost model. The first that names one which applies
// decides; the cost model names the cheapest that does.
//
// All ranks must come to the same choice. So it is a function of the settings and of what is equal
// on every rank: never of Problem::rank, in_place or layouts.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "core/log.hpp"
#include "env/job_variables.hpp"
#include "select/rules.hpp"

namespace tutti {

// The variables without those that name algorithms: these are about whole calls, not about the
// phases of a composition.
JobVariables without_rules(JobVariables variables);

// The variable that decides about a collective ("CCL_ALLREDUCE"); empty: none.
std::string_view rule_variable(Collective collective);

struct Candidate {
  const Algorithm* algorithm = nullptr;
  bool applies = false;
  std::string_view why_not;  // it does not apply, or strict mode excludes it
  double seconds = 0;        // cost model's time, if it applies
};

struct Choice : Chosen {
  std::string origin;  // "CCL_ALLREDUCE", "cost model", ...
  std::string note;    // why one that was named was passed over, the last if several; else empty
  std::vector<Candidate> candidates;  // all of the collective, in the order of registry.inc
};

// The advice between the variables and the cost model.
struct Advice {
  CollectiveRules rules;   // for this number of ranks, from ...
  std::string rules_path;  // ... this tuning file
  tutti_tuner tuner = {};  // without a function: none
};

// An algorithm that a variable names for a call, and the cheapest one, by the cost model.
struct Demanded {
  std::string_view variable;
  Candidate named;
  Candidate best;
};

// Immutable; any thread.
class Selector {
 public:
  // An error names the variable and what was expected. The meaning of oneCCL's names here goes to
  // the log at level info.
  static Result<Selector> create(const JobVariables& variables, const Machine& machine,
                                 Advice advice = {});

  // The algorithm for a call, and its other arm where the cost model decides. `problem` is the
  // whole call, before it is divided among lanes: rules and costs are about its size.
  [[nodiscard]] Chosen choose(const Problem& problem) const;
  // What choose() returns, with all reasons.
  [[nodiscard]] Choice explain(const Problem& problem) const;
  // Nothing if no variable names one that applies.
  [[nodiscard]] std::optional<Demanded> demanded(const Problem& problem) const;

 private:
  struct Decision : Chosen {
    std::string origin;
    std::string note;
    LogLevel severity = LogLevel::kInfo;  // level of the note
  };
  Selector(const Machine& machine, bool strict, bool adapts, Advice advice)
      : machine_(machine), strict_(strict), adapts_(adapts), advice_(std::move(advice)) {}
  [[nodiscard]] Decision decide(const Problem& problem) const;
  [[nodiscard]] Decision decide_algorithm(const Problem& problem) const;
  // Whether `algorithm` is the decision; if it does not apply, the note says that `origin` named
  // it.
  bool accept(const Algorithm& algorithm, const std::string& origin, const Problem& problem,
              Decision& decision) const;
  bool ask_tuner(const Problem& problem, Decision& decision) const;
  [[nodiscard]] Applies usable(const Algorithm& algorithm, const Problem& problem) const;
  [[nodiscard]] bool reads_peers(const Algorithm& algorithm, const Problem& problem) const;
  [[nodiscard]] const Algorithm* cheapest(const Problem& problem) const;
  [[nodiscard]] const Algorithm* with_other_stores(const Chosen& chosen,
                                                   const Problem& problem) const;
  [[nodiscard]] const Algorithm* other_route_of(const Algorithm& chosen,
                                                const Problem& problem) const;

  Machine machine_;
  bool strict_;
  bool adapts_;  // TUTTI_ADAPT
  Advice advice_;
  CollectiveRules rules_;  // of the variables
};

}  // namespace tutti
