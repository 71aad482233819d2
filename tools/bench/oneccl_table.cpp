// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/bench/oneccl_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tutti::bench::oneccl {

std::vector<size_t> counts_between(size_t min, size_t max) {
  std::vector<size_t> counts;
  for (size_t count = min; count < max; count = count == 0 ? 1 : 2 * count) {
    counts.push_back(count);
  }
  counts.push_back(std::max(min, max));
  return counts;
}

size_t fewer_iterations(size_t iterations, size_t bytes) {
  if (iterations == 0) return 0;
  for (size_t rest = bytes >> 18; rest > 0; rest /= 2) iterations /= 2;
  return std::max<size_t>(1, iterations);
}

size_t count_of_call(const Collective& collective, size_t count, int ranks) {
  const bool whole_input = collective.outcome == Outcome::kReducedBlock;
  return whole_input ? count / static_cast<size_t>(ranks) : count;
}

Row row_of(const std::vector<Measurement>& measurements) {
  Row row;
  std::vector<double> totals;  // total of each rank
  for (const Measurement& m : measurements) {
    totals.resize(m.ranks.size());
    double min = m.ranks.front().avg;
    double max = min;
    for (size_t rank = 0; rank < m.ranks.size(); ++rank) {
      const double avg = m.ranks[rank].avg;
      totals[rank] += avg;
      min = std::min(min, avg);
      max = std::max(max, avg);
      row.wait += m.ranks[rank].wait / static_cast<double>(m.ranks.size());
    }
    row.min += min;
    row.max += max;
  }
  if (totals.empty()) return row;
  const auto ranks = static_cast<double>(totals.size());
  for (const double total : totals) row.avg += total / ranks;
  double squares = 0;
  for (const double total : totals) squares += (total - row.avg) * (total - row.avg);
  if (row.avg > 0) row.stddev = std::sqrt(squares / ranks) / row.avg * 100;
  return row;
}

std::string table_head(const std::string& collectives, int ranks, bool extended) {
  const std::string rule = "#" + std::string(60, '-');
  std::string text =
      fmt::format("{0}\n# Benchmarking: {1}\n# #processes: {2}\n{0}\n", rule, collectives, ranks);
  text += fmt::format("{:>16}{:>16}{:>16}{:>16}{:>16}{:>16}{:>13}", "#bytes", "#elem_count",
                      "#repetitions", "t_min[usec]", "t_max[usec]", "t_avg[usec]", "stddev[%]");
  return text + (extended ? fmt::format("{:>19}\n", "wait_t_avg[usec]") : "\n");
}

std::string table_row(size_t bytes, size_t count, size_t iterations, const Row& row,
                      bool extended) {
  const std::string text =
      fmt::format("{:>16}{:>16}{:>16}{:>16.2f}{:>16.2f}{:>16.2f}{:>13.2f}", bytes, count,
                  iterations, row.min, row.max, row.avg, row.stddev);
  return text + (extended ? fmt::format("{:>19.2f}\n", row.wait) : "\n");
}

}  // namespace tutti::bench::oneccl
