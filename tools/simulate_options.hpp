// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The options of `tutti simulate`, and their meaning for a simulation.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/simulate/loop.hpp"

namespace tutti::simulate {

struct NetworkOptions {
  std::string topology = "single-switch";
  double latency_us = 0;
  double rate_gbit = 0;
  std::vector<std::string> times;
  double hop_us = 0.3;
  double oversubscribed = 1;
  uint64_t burst = 0;
  std::vector<std::string> failed;
  std::string groups = "none";
};

struct MachineOptions {
  int shared_cores = 0;
  double message_cpu_us = 0;
  double byte_cpu_ns = 0;
  double turn_us = 0;
};

struct Options {
  std::string collective;
  int ranks = 2;
  int hosts = 0;
  uint64_t bytes = 8;
  std::string type = "float32";
  std::vector<std::string> figures;
  int root = 0;
  int cores = 0;
  std::vector<std::string> algorithms;
  NetworkOptions network;
  MachineOptions machine;
  std::vector<std::string> stragglers;
  double skew_us = 0;
  uint64_t seed = 1;
  int calls = 1;
  double most_steps = 5e8;
  std::string sweep;
  std::string plot;
  std::string heat;
  std::string goal;
  std::string chakra;  // before the rank in the names of files
  bool json = false;
};

void add_options(CLI::App& command, Options& options);

// Both end the command where an option makes no sense.
Question question_of(const Options& options);
Circumstances circumstances_of(const Options& options, const Question& question);
// The group of each host; none if hosts are in no groups, or there is one group.
std::vector<int> groups_of(const Options& options, const Network& network);

}  // namespace tutti::simulate
