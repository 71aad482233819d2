// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti tune: starts the ranks that measure, and collects what they have found out.
#pragma once

#include <vector>

#include "core/status.hpp"
#include "tools/bench/contest.hpp"
#include "tools/tune_rank.hpp"

namespace tutti::tune {

// Takes the variables out of the environment that would decide instead of what is measured.
void clear_environment();

// Runs `tutti tune --result FILE` as the ranks of a job, each on a core of its own if there are
// enough.
tutti::Result<std::vector<Contest>> run_job(const Job& job);

}  // namespace tutti::tune
