// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The first round of the ranks. They agree by it on the settings that all must share, where each
// is, what it may use there, and the figures of rank 0. Each rank works out the same from what all
// have said, never from its own knowledge alone.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/cache_domain.hpp"
#include "core/exchange.hpp"
#include "core/topology.hpp"
#include "env/env.hpp"
#include "select/plan_inputs.hpp"

namespace tutti {

// Where a rank is, and what it may use there.
struct RankPlace {
  // Marks: ranks with equal ones are on one host, hosts with equal ones in one group.
  uint64_t host = 0;
  uint64_t host_group = 0;
  int cache_domain = kNoCacheDomain;
  std::vector<int> cores;
  std::vector<CpuLimit> cpu_limits;  // CPU limits that the rank is under
};
// A rank's message about itself.
struct OwnSettings : RankPlace {
  JobVariables variables;  // `strict` is the communicator's
  tutti_tuner tuner = {};  // without a function: none
  // Tuning and figures count from rank 0 alone; other ranks need not know them.
  Result<FoundTuning> tuning = FoundTuning();
  std::optional<NetworkFigures> network = {};
};
// Asks the system and the environment; leaves out what counts only of rank 0. `root` as in
// cpu_limits().
Result<OwnSettings> own_settings(const Environment& environment, int rank, int ranks,
                                 const std::string& root = "");

struct Agreement {
  // All but `pulls` and `maps_peers`. Whether the ranks of a host can share memory is found out
  // later, and `network` is measured later where it is not known.
  PlanInputs inputs;
  uint64_t key = 0;  // key that rank 0 chose: equal on all ranks, and in no other communicator
};

// 64 bits that nobody can guess; 0 if the system has none to give.
uint64_t random_key();

// How many threads of ranks of one host can make progress at once, given the cores and limits of
// each. These are all cores that some rank may use. If limits allow less, every rank counts with
// the smallest share of any, for ranks go at the pace of the slowest.
int cores_together(std::span<const RankPlace* const> ranks);

// Collective. An error names the setting that differs, and both values.
Result<Agreement> agree(Exchange& exchange, const OwnSettings& own);

}  // namespace tutti
