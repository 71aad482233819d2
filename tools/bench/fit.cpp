// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/bench/fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "select/machine.hpp"
#include "select/selector.hpp"
#include "select/tuning.hpp"

namespace tutti::tune {
namespace {

using tutti::Machine;

// Limits on the change of a figure's logarithm: in all, a factor of 8, and in one step.
constexpr double kFarthest = 2.1;
constexpr double kLongestStep = 0.5;
constexpr int kSteps = 30;
// How much a figure wants to stay: as much as a figure that makes up one whole measured time.
constexpr double kPrior = 1;
// A prediction wrong by more than this (a logarithm) counts less: it is an outlier.
constexpr double kOutlier = 0.6;
// How much of the error that all algorithms of a cell have in common is left out: choices do not
// depend on it. (Found by trying what makes the best choices for collectives that were left out.)
constexpr double kCommon = 0.8;

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

double predict(const Cell& cell, const tutti::Algorithm& algorithm, const Machine& machine) {
  return algorithm.seconds(cell.problem, machine_for(cell.problem.ranks, cell.cores, machine));
}

// Solves a x = b, a symmetric and positive definite, in place: x is b then.
void solve(Matrix& a, Vector& b) {
  const size_t n = b.size();
  for (size_t k = 0; k < n; ++k) {
    for (size_t i = k + 1; i < n; ++i) {
      const double factor = a[i][k] / a[k][k];
      for (size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (size_t k = n; k-- > 0;) {
    for (size_t j = k + 1; j < n; ++j) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
}

// The part of each figure in a prediction: its formula with all others at 0.
Vector parts_of(const Cell& cell, const tutti::Algorithm& algorithm, const Machine& machine) {
  Vector parts;
  for (const tutti::MachineFigure& figure : tutti::machine_figures()) {
    Machine one = machine;
    for (const tutti::MachineFigure& other : tutti::machine_figures()) one.*other.value = 0;
    one.*figure.value = machine.*figure.value;
    parts.push_back(predict(cell, algorithm, one));
  }
  return parts;
}

// A time, and what its logarithm's prediction is wrong by and how that changes with the figures'.
struct Row {
  Vector parts;
  double seconds;
  double error = 0;
  Vector slope = {};
};
using Rows = std::vector<Row>;  // rows of one cell

// Gauss-Newton, from the usual ones. Gives the figures as factors of them, and the loss.
class Fit {
 public:
  Fit(std::span<const Cell> cells, const Machine& machine) : machine_(machine) {
    for (const Cell& cell : cells) {
      Rows& rows = cells_.emplace_back();
      for (const Cell::Entry& entry : cell.entries) {
        rows.push_back({parts_of(cell, *entry.algorithm, machine), entry.seconds});
      }
    }
    logs_.resize(tutti::machine_figures().size());
    for (int i = 0; i < kSteps; ++i) step();
  }

  [[nodiscard]] Machine machine() const {
    Machine fitted = machine_;
    size_t j = 0;
    for (const tutti::MachineFigure& figure : tutti::machine_figures()) {
      fitted.*figure.value *= std::exp(logs_[j++]);
    }
    return fitted;
  }
  [[nodiscard]] double loss() const { return loss_; }

 private:
  void step() {
    const size_t n = logs_.size();
    Matrix normal(n, Vector(n));
    Vector right(n);
    loss_ = 0;
    for (size_t j = 0; j < n; ++j) {
      normal[j][j] = kPrior;
      right[j] = -kPrior * logs_[j];
      loss_ += kPrior * logs_[j] * logs_[j];
    }
    for (Rows& rows : cells_) {
      look_at(rows);
      for (const Row& row : rows) add(row, normal, right);
    }
    solve(normal, right);
    for (size_t j = 0; j < n; ++j) {
      logs_[j] += std::clamp(right[j], -kLongestStep, kLongestStep);
      logs_[j] = std::clamp(logs_[j], -kFarthest, kFarthest);
    }
  }

  void look_at(Rows& rows) const {
    double common = 0;
    Vector common_slope(logs_.size());
    const double part = kCommon / static_cast<double>(rows.size());
    for (Row& row : rows) {
      row.slope = row.parts;
      double sum = 0;
      for (size_t j = 0; j < logs_.size(); ++j) sum += row.slope[j] *= std::exp(logs_[j]);
      row.error = std::log(sum / row.seconds);
      common += part * std::clamp(row.error, -1.0, 1.0);
      for (size_t j = 0; j < logs_.size(); ++j) common_slope[j] += part * (row.slope[j] /= sum);
    }
    for (Row& row : rows) {
      row.error -= common;
      for (size_t j = 0; j < logs_.size(); ++j) row.slope[j] -= common_slope[j];
    }
  }

  void add(const Row& row, Matrix& normal, Vector& right) {
    const double weight = std::min(1.0, kOutlier / std::max(std::fabs(row.error), 1e-9));
    loss_ += weight * row.error * row.error;
    for (size_t i = 0; i < logs_.size(); ++i) {
      right[i] -= weight * row.slope[i] * row.error;
      for (size_t j = 0; j < logs_.size(); ++j) {
        normal[i][j] += weight * row.slope[i] * row.slope[j];
      }
    }
  }

  Machine machine_;
  std::vector<Rows> cells_;
  Vector logs_;
  double loss_ = 0;
};

// The time of the algorithm that the figures favour, over the least of those that competed.
double loss_of_choice(const Cell& cell, const Machine& machine) {
  const auto chosen = std::ranges::min_element(cell.entries, {}, [&](const Cell::Entry& entry) {
    return predict(cell, *entry.algorithm, machine);
  });
  return chosen->seconds / std::ranges::min(cell.entries, {}, &Cell::Entry::seconds).seconds;
}

Regret regret(std::span<const double> losses) {
  Regret regret;
  double logs = 0;
  for (const double loss : losses) {
    logs += std::log(loss);
    regret.worst = std::max(regret.worst, loss);
  }
  if (!losses.empty()) regret.mean = std::exp(logs / static_cast<double>(losses.size()));
  return regret;
}

}  // namespace

Machine fit_machine(std::span<const Cell> cells, const Machine& usual,
                    uint64_t second_level_bytes) {
  std::set<uint64_t> sizes{usual.cache_bytes};
  if (second_level_bytes > 0) {
    sizes.insert({second_level_bytes / 2, second_level_bytes, 2 * second_level_bytes});
  }
  Machine best = usual;
  double least = INFINITY;
  for (const uint64_t bytes : sizes) {
    Machine start = usual;
    start.cache_bytes = bytes;
    const Fit fit(cells, start);
    if (fit.loss() >= least) continue;
    least = fit.loss();
    best = fit.machine();
  }
  return best;
}

Regret regret_of(std::span<const Cell> cells, const Machine& machine) {
  Vector losses;
  for (const Cell& cell : cells) losses.push_back(loss_of_choice(cell, machine));
  return regret(losses);
}

Regret regret_of_fits(std::span<const Cell> cells, const Machine& usual,
                      uint64_t second_level_bytes) {
  std::set<tutti::Collective> collectives;
  for (const Cell& cell : cells) collectives.insert(cell.problem.collective);
  Vector losses;
  for (const tutti::Collective left_out : collectives) {
    std::vector<Cell> others;
    for (const Cell& cell : cells) {
      if (cell.problem.collective != left_out) others.push_back(cell);
    }
    const Machine fitted = fit_machine(others, usual, second_level_bytes);
    for (const Cell& cell : cells) {
      if (cell.problem.collective == left_out) losses.push_back(loss_of_choice(cell, fitted));
    }
  }
  return regret(losses);
}

}  // namespace tutti::tune
