// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The choices that calls of one kind have while a program runs, equal on all ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti {

struct Arms {
  std::vector<std::string> names;  // the first is what was chosen at first; empty: nothing to try
  uint64_t key = 0;                // kinds of the same key share what is known of the arms
  int coordinator = 0;             // the rank that times calls and tells the others
};

}  // namespace tutti
