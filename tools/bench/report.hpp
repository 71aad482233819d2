// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The output of tutti bench, which rank 0 prints and writes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tools/bench/runner.hpp"

namespace tutti::bench {

// The request, for the head of the table and for JSON.
struct Heading {
  int ranks;
  std::string form;
  Plan plan;
  std::string command = {};  // command line; only JSON has it and `machine`
  nlohmann::ordered_json machine = {};
};

struct SkippedCase {
  std::string collective;
  std::string reason;
};

std::string heading_text(const Heading& heading);
// The line above the figures of one collective, type and operation, and the columns' names.
std::string table_head(const Case& first);
std::string table_row(const Measurement& measurement);

std::string to_csv(const std::vector<Measurement>& measurements);
std::string to_json(const Heading& heading, const std::vector<Measurement>& measurements,
                    const std::vector<SkippedCase>& skipped);

// "allreduce float32 sum"
std::string series_name(const Case& measured);

}  // namespace tutti::bench
