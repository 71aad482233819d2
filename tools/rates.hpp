// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The rates of all communicators of all jobs that are wanted, between two looks; as JSON, as a
// table, and as metrics for Prometheus.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "inspect/rates.hpp"
#include "tools/looks.hpp"

namespace tutti_tools {

struct CommunicatorRates {
  tutti::inspect::Communicator communicator;
  std::vector<tutti::inspect::RankRates> ranks;
};

// Between the two looks; and at the end of them, who is late and why.
std::vector<CommunicatorRates> rates_in(const Looks& looks);
// Looks twice, so many seconds apart.
std::vector<CommunicatorRates> measure_rates(const tutti::inspect::Wanted& wanted, double seconds);

nlohmann::ordered_json to_json(const std::vector<CommunicatorRates>& all);
std::string to_table(const std::vector<CommunicatorRates>& all);
// In the text format of Prometheus, version 0.0.4.
std::string to_metrics(const std::vector<CommunicatorRates>& all);

// What a watcher says of a job.
struct JobState {
  struct Blamed {
    std::string cause;
    std::string rank;  // several: "0,1"
    std::string host;  // empty: not known, or this one
  };
  std::string job;
  bool hung = false;
  bool slow = false;
  std::vector<Blamed> blamed = {};
};
std::string to_metrics(const std::vector<JobState>& all);

}  // namespace tutti_tools
