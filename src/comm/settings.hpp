// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the ranks tell one another first: settings on which all must agree, and the cores they may
// use, from which each works out how long waiting threads spin.
#pragma once

#include <vector>

#include "core/exchange.hpp"
#include "env/env.hpp"

namespace tutti {

struct Agreement {
  std::vector<int> local_ranks;  // those of this host, ascending; all of them in this release
  int local_rank = 0;            // index of this rank among them
  int cores = 1;                 // that the ranks of this host may use together
};

// Collective. An error names the variable that differs, and both values.
Result<Agreement> agree(Exchange& exchange, const Environment& environment, bool strict);

}  // namespace tutti
