// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/bench/nccl_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tutti::bench::nccl {

namespace {

bool on_blocks(const Collective& c) { return c.send == Blocks::kAll || c.recv == Blocks::kAll; }

bool rooted(const Collective& c) {
  switch (c.outcome) {
    case Outcome::kReducedAtRoot:
    case Outcome::kFromRoot:
    case Outcome::kBlockFromRoot:
    case Outcome::kFromAllAtRoot: return true;
    default: return false;
  }
}

std::string time_text(double us) {
  const int decimals = us >= 10000 ? 0 : us >= 100 ? 1 : 2;
  return fmt::format("{:.{}f}", us, decimals);
}

std::string half_row(const std::optional<Figures>& figures) {
  const Figures f = figures.value_or(Figures{NAN, NAN, NAN, std::nullopt});
  return fmt::format("  {:>7}  {:>6.2f}  {:>6.2f}  {:>5}", time_text(f.us), f.algorithm_bandwidth,
                     f.bus_bandwidth, f.wrong ? std::to_string(*f.wrong) : "N/A");
}

}  // namespace

const Collective* find_collective(std::string_view name) {
  if (name == "all_reduce") name = "allreduce";
  if (name == "all_gather") name = "allgather";
  if (name == "all_to_all") name = "alltoall";
  return bench::find_collective(name);
}

std::string_view type_name(tutti_type type) {
  switch (type) {
    case TUTTI_FLOAT16: return "half";
    case TUTTI_FLOAT32: return "float";
    case TUTTI_FLOAT64: return "double";
    case TUTTI_FLOAT8_E4M3: return "f8e4m3";
    case TUTTI_FLOAT8_E5M2: return "f8e5m2";
    default: return tutti_type_name(type);
  }
}

size_t count_for(const Collective& collective, tutti_type type, uint64_t bytes, int ranks) {
  const size_t elements = bytes / tutti_type_size(type);
  if (!on_blocks(collective)) return elements;
  // nccl-tests has whole multiples of 16 bytes in blocks of collectives without a root.
  const size_t multiple = rooted(collective) ? 1 : 16 / tutti_type_size(type);
  return elements / static_cast<size_t>(ranks) / multiple * multiple;
}

Figures figures(const Measurement& m, Average average, size_t calls, bool checked) {
  std::vector<double> times;
  for (const Statistics& rank : m.ranks) times.push_back(rank.avg);
  double us = times.front();
  switch (average) {
    case Average::kRank0: break;
    case Average::kMean:
      us = std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
      break;
    case Average::kMin: us = *std::ranges::min_element(times); break;
    case Average::kMax: us = *std::ranges::max_element(times); break;
  }
  us /= static_cast<double>(calls);
  const double bandwidth = m.algorithm_bandwidth * m.all.avg / us;
  return {us, bandwidth,
          bandwidth * m.measured.collective->bus_factor(static_cast<double>(times.size())),
          checked ? std::optional(m.wrong) : std::nullopt};
}

std::string table_head() {
  const std::string_view half_names = "time   algbw   busbw #wrong";
  const std::string_view half_units = "(us)  (GB/s)  (GB/s)       ";
  return fmt::format(
      "#\n#{0:>54}{1:^32}{2:^32}\n"
      "#{3:>11}  {4:>12}  {5:>8}  {6:>6}  {7:>6}{8:>32}{8:>32}\n"
      "#{9:>11}  {10:>12}  {0:>8}  {0:>6}  {0:>6}{11:>32}{11:>32}\n",
      "", "out-of-place", "in-place", "size", "count", "type", "redop", "root", half_names, "(B)",
      "(elements)", half_units);
}

std::string table_row(const Case& measured, int ranks, int root,
                      const std::optional<Figures>& out_of_place,
                      const std::optional<Figures>& in_place) {
  const Collective& collective = *measured.collective;
  const size_t blocks = on_blocks(collective) ? static_cast<size_t>(ranks) : 1;
  return fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}{}{}\n", measured.bytes() * blocks,
                     measured.count, type_name(measured.type),
                     collective.reduces ? op_name(measured.op) : "none",
                     rooted(collective) ? root : -1, half_row(out_of_place), half_row(in_place));
}

std::string table_foot(uint64_t wrong, double average_bus_bandwidth) {
  return fmt::format("# Out of bounds values : {} {}\n# Avg bus bandwidth    : {:g} \n#\n", wrong,
                     wrong == 0 ? "OK" : "FAILED", average_bus_bandwidth);
}

}  // namespace tutti::bench::nccl
