// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What each rank does for tutti tune: it measures, together with the others.
#pragma once

#include <tutti/tutti.h>

#include <string>
#include <vector>

#include "core/status.hpp"
#include "tools/bench/contest.hpp"

namespace tutti_tune {

struct Job {
  int rank = 0;
  int ranks = 2;
  int cores = 1;  // that the ranks share
  tutti_unique_id id{};
  std::vector<std::string> collectives;
  std::vector<uint64_t> sizes;  // ascending
  double seconds = 8;           // for everything; what does not fit in is left out
};

// The same on every rank. Rank 0 prints a table meanwhile.
tutti::Result<std::vector<Contest>> measure(const Job& job);

}  // namespace tutti_tune
