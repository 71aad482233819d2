// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The programs of the ranks of a simulated job, from the library's own plans.
#pragma once

#include <array>
#include <memory>

#include "comm/scopes.hpp"
#include "tools/simulate/job.hpp"

namespace tutti::simulate {

// Makes plans as a communicator over these hosts does, in the same scopes (comm/scopes.hpp).
class Planner {
 public:
  static Result<std::unique_ptr<Planner>> create(const Question& q, Job& job);

  // Adds what a rank does; how many steps that is.
  Result<uint64_t> add(int rank);

 private:
  Planner(const Question& q, Job& job) : question_(q), job_(job) {}
  using Counts = std::array<uint32_t, kStreams>;  // phases by stream
  using Contexts = std::array<const PlanContext*, kStreams>;
  void add_phase(int rank, int stream, const PlanContext& scope, const Plan& plan,
                 const Counts& after);
  void add_composed(int rank, const Contexts& scopes, const Plan& plan);
  void add_in_groups(int rank, const Contexts& scopes, const Plan& plan, const ComposedPlan& phases,
                     const Counts& after);
  [[nodiscard]] Counts counts_of(int rank) const;
  void add_footprint(int rank, const Plan& plan);
  [[nodiscard]] Call call_of(int rank) const;

  const Question& question_;
  Job& job_;
  Choose whole_;
  ScopeChoices phases_;
  Limits limits_;
};

}  // namespace tutti::simulate
