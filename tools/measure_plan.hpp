// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The runs of `tutti measure` on a machine, those that tell most about it first.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tutti::tools {

struct MeasuredMachine {
  std::vector<int> cores = {};               // cores that may be used
  int parallel = 1;                          // runs at the same time
  int physical = 1;                          // cores among hardware threads
  std::vector<std::vector<int>> nodes = {};  // NUMA nodes that have some of these cores: which
  uint64_t memory_bytes = 0;
};
MeasuredMachine measured_machine();

// One run of `tutti bench`.
struct BenchRun {
  std::string label;  // "8 ranks, 2 workers"
  std::vector<std::string> words = {};
  std::vector<std::pair<std::string, std::string>> variables = {};
  std::vector<int> cores = {};  // cores that its ranks may use; empty: all
  size_t cases = 0;

  // The command as it could be typed.
  [[nodiscard]] std::string command() const;
};

struct MeasureOptions {
  std::vector<int> ranks;  // empty: 2, 4, ... and as many as there are cores
  double seconds = 0.2;    // per size
  uint64_t most_bytes = 64 << 20;
};
std::vector<BenchRun> measure_plan(const MeasuredMachine& machine, const MeasureOptions& options);

}  // namespace tutti::tools
