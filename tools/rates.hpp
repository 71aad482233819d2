// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The rates of all communicators of all jobs that are wanted, between two looks; as JSON, as a
// table, and as metrics for Prometheus.
#pragma once

#include <compare>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "inspect/rates.hpp"
#include "tools/observation.hpp"

namespace tutti::tools {

struct CommunicatorRates {
  std::string job;  // name of the job: inspect::name_of()
  tutti::inspect::Communicator communicator;
  std::vector<tutti::inspect::RankRates> ranks;
  std::string slow = {};  // what costs all ranks much, if no rank is to blame
};

// Between the two looks; and at the end of them, who is late and why. `job` is the job's name.
std::vector<CommunicatorRates> rates_in(const Observation& observed, const std::string& job);
// Looks twice, so many seconds apart.
std::vector<CommunicatorRates> measure_rates(const tutti::inspect::Wanted& wanted, double seconds);

nlohmann::ordered_json to_json(const std::vector<CommunicatorRates>& all);
std::string to_table(const std::vector<CommunicatorRates>& all);
// The figures in the text format of Prometheus, version 0.0.4. Each series is there once: of
// communicators that have all labels in common, the oldest.
std::string to_metrics(const std::vector<CommunicatorRates>& all);

// What a watcher says of the jobs of one name.
struct JobState {
  struct Blamed {
    std::string cause;
    std::string rank;  // several: "0,1"
    std::string host;  // empty: not known, or this one
    auto operator<=>(const Blamed&) const = default;
  };
  bool hung = false;
  bool slow = false;
  std::set<Blamed> blamed = {};
};
using JobStates = std::map<std::string, JobState>;  // states by the names of the jobs
std::string to_metrics(const JobStates& all);

}  // namespace tutti::tools
