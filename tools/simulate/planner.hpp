// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What each rank of a simulated job does: the library's own plans, as programs.
#pragma once

#include <array>
#include <memory>

#include "exec/plan.hpp"
#include "tools/simulate/job.hpp"

namespace tutti::simulate {

// Makes plans as a communicator over these hosts does (comm/lanes.cpp).
class Planner {
 public:
  static Result<std::unique_ptr<Planner>> create(const Question& q, Job& job);

  // Adds what a rank does; how many steps that is.
  Result<uint64_t> add(int rank);

 private:
  Planner(const Question& q, Job& job) : question_(q), job_(job) {}
  [[nodiscard]] PlanContext context_of(int rank) const;
  using Counts = std::array<uint32_t, kStreams>;  // by stream: phases
  void add_phase(int rank, int stream, const Plan& plan, const Counts& after);
  void add_composed(int rank, const Plan& plan);
  void add_in_groups(int rank, const Plan& plan, const ComposedPlan& phases, const Counts& after);
  [[nodiscard]] Counts counts_of(int rank) const;
  void add_footprint(int rank, const Plan& plan);
  [[nodiscard]] Call call_of(int rank) const;

  const Question& question_;
  Job& job_;
  Choose whole_;
  std::array<Choose, kStreams> phases_;
  Choose column_alone_;
  Limits limits_;
  int most_on_a_host_ = 1;
  int columns_ = 1;
  int group_columns_ = 0;
};

}  // namespace tutti::simulate
