// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The cases that `tutti bench` measures for its arguments.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/status.hpp"
#include "tools/bench/runner.hpp"

namespace tutti::bench {

struct Wanted {
  std::vector<std::string> collectives;
  std::vector<std::string> types = {"float32"};
  std::vector<std::string> ops = {"sum"};
  uint64_t min_bytes = 4;
  uint64_t max_bytes = 16 << 20;
  int factor = 2;               // from one size to the next
  std::vector<uint64_t> sizes;  // in bytes, instead of the three above
};

// Cases in the order in which they are measured; cases that share a table follow one another. An
// error names the option and what was expected.
Result<std::vector<Case>> chosen_cases(const Wanted& wanted);
// Whether they are lines of one table.
bool same_table(const Case& a, const Case& b);

// A sentence for each size that is no whole number of elements of a type, so that another size is
// measured. Such as "3 bytes are no whole number of elements of float32: measured are 4 bytes".
std::vector<std::string> notes_on_sizes(const Wanted& wanted, std::span<const Case> cases);

}  // namespace tutti::bench
