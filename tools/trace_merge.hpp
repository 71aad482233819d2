// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Several traces in one: Tutti's of the ranks of a job, and those of other profilers in the same
// format, as PyTorch's. Clocks of hosts that do not agree are corrected by the calls themselves: no
// rank leaves an allreduce before the last one has entered it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tutti::tools {

struct TraceFile {
  std::string path;        // for texts
  nlohmann::json content;  // an object with traceEvents, or these alone
};

struct MergedTrace {
  nlohmann::json content;
  // The findings about the clocks, a line for each host but the first.
  std::vector<std::string> notes;
};

// Throws std::invalid_argument, with the file's path, of what is no trace.
MergedTrace merge_traces(std::vector<TraceFile> files);

}  // namespace tutti::tools
