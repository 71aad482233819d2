// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The work of each rank for tutti tune: it measures, together with the others.
#pragma once

#include <string>
#include <vector>

#include "core/status.hpp"
#include "tools/bench/contest.hpp"

namespace tutti::tune {

struct Job {
  int ranks = 2;
  std::vector<std::string> collectives;
  std::vector<uint64_t> sizes;  // ascending
  double seconds = 8;           // time for everything; what does not fit in is left out
};

// Rank 0 prints a table meanwhile, and gets what was found out, as text; the others get nothing.
tutti::Result<std::string> measure(const Job& job);

}  // namespace tutti::tune
