// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The contexts that plan the phases of compositions: how each scope chooses, and what it is on one
// rank. The communicator, the simulator and the proof of compositions make them here.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "exec/plan.hpp"
#include "select/network_figures.hpp"
#include "select/selector.hpp"
#include "transports/joined.hpp"

namespace tutti {

// The choice by `selector`, asked when a plan is made.
Choose choice_of(Selector selector);

// The choices of each scope, equal on all ranks of a job.
struct ScopeChoices {
  struct Job {
    const Hosts& hosts;
    const NetworkFigures& network;
    const JobVariables& variables;
    const Machine& host;    // machine as ranks of one host see it
    const Machine& across;  // machine as ranks on several hosts see it
    Advice on_host = {};
  };

  Choose on_host;
  // Choices by InColumn, for parts of a column if hosts are in groups.
  std::array<Choose, 3> in_column;
  Choose alone_in_column;  // choice for phases of whole columns that run alone

  static Result<ScopeChoices> create(const Job& job,
                                     const std::function<Choose(Selector)>& ask = choice_of);
};

// The scopes of one rank.
class Scopes {
 public:
  // `host` says what is the same for all phases within the host. All but that outlive it.
  Scopes(const Hosts& hosts, int rank, const ScopeChoices& choices, PlanContext host = {});
  Scopes(const Scopes&) = delete;
  Scopes& operator=(const Scopes&) = delete;

  [[nodiscard]] const PlanContext& on_host() const { return on_host_; }
  // Null if this rank has no part in it.
  [[nodiscard]] const PlanContext* in_column(InColumn among) const {
    const PlanContext& context = in_column_[static_cast<size_t>(among)];
    return context.ranks > 0 ? &context : nullptr;
  }
  // The contexts of the phases of a call of all ranks.
  [[nodiscard]] std::array<const PlanContext*, kScopes> of_call() const {
    return {&on_host_, in_column(InColumn::kAll)};
  }

 private:
  PlanContext on_host_;
  std::array<PlanContext, 3> in_column_;
};

// The ranks of the communicator that such a context of this rank counts.
std::vector<int> ranks_in_column(const Hosts& hosts, int rank, InColumn among);

}  // namespace tutti
