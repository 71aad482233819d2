// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The question to tutti explain, and the forms of its answer.
#pragma once

#include <cstdint>
#include <string>

#include "select/network_figures.hpp"
#include "select/selector.hpp"

struct ExplainOptions {
  std::string collective;
  int ranks = 2;
  uint64_t bytes = 0;
  std::string type = "float32";
  int rank = 0;
  int root = 0;
  int cores = 0;  // cores that the ranks share; 0: those of this machine
  int hosts = 1;
  int domains = 1;
  double latency_us = 0;
  double rate_gbit = 0;
  std::string algorithm;
  bool no_shm = false;
  bool shared = false;
  bool device = false;
  std::string plot;
  bool json = false;
};

// `network` may be null: the ranks are on one host.
void print_text(const ExplainOptions& options, const tutti::Problem& problem,
                const tutti::Choice& choice, const tutti::NetworkFigures* network);
void print_json(const ExplainOptions& options, const tutti::Problem& problem,
                const tutti::Choice& choice, const tutti::NetworkFigures* network);
// The steps of all ranks, as SVG.
std::string picture(const ExplainOptions& options, tutti::Problem problem,
                    const tutti::Algorithm& algorithm);
