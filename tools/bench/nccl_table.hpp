// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Names, sizes and the table of nccl-tests, for scripts that start them and read what they print.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tools/bench/runner.hpp"

namespace tutti::bench::nccl {

// nullptr if there is none: "all_reduce", "alltoall", ..., and our own names.
const Collective* find_collective(std::string_view name);
// "half" for TUTTI_FLOAT16.
std::string_view type_name(tutti_type type);

// The elements of a call whose larger buffer has at most `bytes`.
size_t count_for(const Collective& collective, tutti_type type, uint64_t bytes, int ranks);

enum class Average { kRank0, kMean, kMin, kMax };

// One half of a line.
struct Figures {
  double us;
  double algorithm_bandwidth;
  double bus_bandwidth;
  std::optional<uint64_t> wrong;  // wrong elements; none: not checked
};
// `calls` were made, and timed, together.
Figures figures(const Measurement& measurement, Average average, size_t calls, bool checked);

std::string table_head();
// The row of one case. Figures that are not there are printed as not a number.
std::string table_row(const Case& measured, int ranks, int root,
                      const std::optional<Figures>& out_of_place,
                      const std::optional<Figures>& in_place);
std::string table_foot(uint64_t wrong, double average_bus_bandwidth);

}  // namespace tutti::bench::nccl
