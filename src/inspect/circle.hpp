// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A circle of waits: each rank waits for the next, the last one for the first.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "inspect/blame.hpp"
#include "inspect/verdict.hpp"

namespace tutti::inspect {

// What a finding says of the end of a chain of waits.
struct Blame {
  Cause cause;
  std::vector<int> ranks;  // by their numbers in the job
  std::string text;
  std::string advice;
  const Process* process;  // the one to look at; null: none
};

constexpr std::string_view kOrder =
    "all ranks must make the same calls in the same order, and a receive must match its message: "
    "compare what the ranks above are in";

Blame blame_for_circle(const Job& job, std::span<const Waiting> circle);

}  // namespace tutti::inspect
