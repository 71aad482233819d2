// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Counts and the table of oneCCL's benchmark, for scripts that start it and read what it prints.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/runner.hpp"

namespace tutti::bench::oneccl {

// Counts from `min` to `max`, doubled each time, `max` always among them.
std::vector<size_t> counts_between(size_t min, size_t max);
// How many of `iterations` calls to make: half for each doubling from 256 KiB on, at least one.
size_t fewer_iterations(size_t iterations, size_t bytes);
// The count with which the collective is called for a line of `count` elements.
size_t count_of_call(const Collective& collective, size_t count, int ranks);

// The times of a line in microseconds: of a rank the sum over all collectives, each the mean over
// its iterations.
struct Row {
  double min = 0;     // time of the fastest rank
  double max = 0;     // time of the slowest rank
  double avg = 0;     // over the ranks
  double stddev = 0;  // deviation over the ranks, in percent of avg
  double wait = 0;    // the part of avg after all calls were started
};
Row row_of(const std::vector<Measurement>& one_per_collective);

std::string table_head(const std::string& collectives, int ranks, bool extended);
std::string table_row(size_t bytes, size_t count, size_t iterations, const Row& row, bool extended);

}  // namespace tutti::bench::oneccl
