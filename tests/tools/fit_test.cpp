// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/bench/fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "select/limits.hpp"
#include "select/selector.hpp"
#include "select/tuning.hpp"

namespace tutti_test {
namespace {

using tutti::Algorithm;
using tutti::Collective;
using tutti::Machine;
using tutti::tune::Cell;

constexpr uint64_t kCache = 2 << 20;

Cell cell_of(Collective collective, uint64_t bytes, int ranks) {
  Cell cell;
  cell.cores = ranks;
  cell.problem.collective = collective;
  cell.problem.ranks = ranks;
  cell.problem.element_bytes = 4;
  cell.problem.count = cell.problem.stride = bytes / 4;
  cell.problem.limits = tutti::limits_of(tutti::JobVariables(), ranks, ranks);
  return cell;
}

// What would be measured on that machine if the cost model were right.
std::vector<Cell> cells_on(const Machine& machine) {
  std::vector<Cell> cells;
  for (const Collective collective :
       {Collective::kAllreduce, Collective::kBroadcast, Collective::kAllgather,
        Collective::kReduceScatter, Collective::kReduce, Collective::kGather}) {
    for (uint64_t bytes = 4; bytes <= 16 << 20; bytes *= 8) {
      Cell cell = cell_of(collective, bytes, 2);
      for (const Algorithm* algorithm : tutti::algorithms()) {
        if (algorithm->collective != collective || !algorithm->applies(cell.problem).yes) continue;
        cell.entries.push_back({algorithm, algorithm->seconds(cell.problem, machine)});
      }
      cells.push_back(std::move(cell));
    }
  }
  return cells;
}

// One on which peers read far more slowly than the defaults have it.
Machine another_machine() {
  Machine machine;
  machine.cache_bytes = kCache;
  machine.handover_s *= 0.4;
  machine.pull_s *= 5;
  machine.pull_cached_s *= 5;
  machine.pull_shared_s *= 5;
  return machine;
}

TEST(Fit, FindsTheMachineFromWhichTheTimesCome) {
  const std::vector<Cell> cells = cells_on(another_machine());
  ASSERT_GT(regret_of(cells, Machine()).mean, 1.05) << "the defaults are as good";
  EXPECT_LT(regret_of(cells, fit_machine(cells, Machine(), kCache)).mean, 1.01);
  EXPECT_LT(regret_of_fits(cells, Machine(), kCache).mean, 1.03)
      << "for collectives that were left out";
}

TEST(Fit, StaysWhereTheDefaultsAreRight) {
  const std::vector<Cell> cells = cells_on(Machine());
  const Machine fitted = fit_machine(cells, Machine(), 0);
  for (const tutti::MachineFigure& figure : tutti::machine_figures()) {
    EXPECT_NEAR(fitted.*figure.value / (Machine().*figure.value), 1, 1e-6) << figure.name;
  }
  EXPECT_EQ(fitted.cache_bytes, Machine().cache_bytes);
}

TEST(Fit, IsNotLedAstrayByOneWildTime) {
  const std::vector<Cell> cells = cells_on(another_machine());
  std::vector<Cell> disturbed = cells;
  disturbed[3].entries[0].seconds *= 1000;
  EXPECT_LT(regret_of(cells, fit_machine(disturbed, Machine(), kCache)).mean, 1.01);
}

TEST(Fit, LeavesNoFigureBeyondWhatATuningFileMayHold) {
  std::vector<Cell> cells = cells_on(Machine());
  for (size_t i = 0; i < cells.size(); ++i) {
    for (Cell::Entry& entry : cells[i].entries) entry.seconds = i % 2 == 0 ? 1e-12 : 1e3;
  }
  const Machine fitted = fit_machine(cells, Machine(), kCache);
  for (const tutti::MachineFigure& figure : tutti::machine_figures()) {
    const double factor = fitted.*figure.value / (Machine().*figure.value);
    EXPECT_GT(factor, 0.12) << figure.name;
    EXPECT_LT(factor, 8.2) << figure.name;
  }
}

TEST(Regret, IsTheTimeOfWhatIsChosenOverTheLeast) {
  Cell right = cell_of(Collective::kAllreduce, 4, 2);
  right.entries = {{tutti::find_algorithm(Collective::kAllreduce, "inline"), 1},
                   {tutti::find_algorithm(Collective::kAllreduce, "ring"), 2}};
  Cell wrong = right;
  std::swap(wrong.entries[0].seconds, wrong.entries[1].seconds);
  wrong.entries[0].seconds = 4;
  const auto regret = regret_of(std::vector<Cell>{right, wrong}, Machine());
  EXPECT_DOUBLE_EQ(regret.mean, 2);
  EXPECT_DOUBLE_EQ(regret.worst, 4);
  EXPECT_DOUBLE_EQ(tutti::tune::regret_of({}, Machine()).mean, 1);
}

}  // namespace
}  // namespace tutti_test
