// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The user's rules in CCL_ALLREDUCE and its like: "ring", or "one_shot:0-8191;two_shot:8192-max".
// Sizes are bytes of one block, both ends inclusive. The last rule holds for a size that several
// rules cover, the automatic choice for a size that none covers.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "core/status.hpp"

namespace tutti {

struct Rule {
  const Algorithm* algorithm = nullptr;  // nullptr: the automatic choice
  uint64_t lowest = 0;
  uint64_t highest = UINT64_MAX;
};

// The rules of each collective.
using CollectiveRules = std::array<std::vector<Rule>, kCollectives>;

struct Rules {
  std::vector<Rule> rules;
  // One sentence for each name of oneCCL that stands for something else here.
  std::vector<std::string> notes;
};

// `variable` is for error texts, `text` its value; empty: no rules.
Result<Rules> parse_rules(Collective collective, std::string_view variable, std::string_view text);

}  // namespace tutti
