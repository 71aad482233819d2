// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// All that the choice of algorithms and the making of plans depend on, besides the call. It is
// agreed on when the ranks meet (comm/settings.hpp, comm/communicator.cpp). The planner can see
// nothing else: its folders reach no header by which a process looks at its environment, its
// machine or the time (tests/layering/layering.py). A further input needs a field here, and so its
// way to all ranks.
#pragma once

#include <optional>
#include <vector>

#include "core/hosts.hpp"
#include "core/slot_plan.hpp"
#include "env/job_variables.hpp"
#include "select/network_figures.hpp"
#include "select/tuning.hpp"

namespace tutti {

struct PlanInputs {
  // ---- of the job: the same on all ranks
  JobVariables variables;  // `strict` is the communicator's
  // All ranks have one or none; its answers are the same by contract, which signatures of plans
  // guard (exec/plan.cpp). Without a function: none.
  tutti_tuner tuner = {};
  FoundTuning tuning;                     // tuning that rank 0 found
  std::optional<NetworkFigures> network;  // there if ranks are on several hosts
  Hosts hosts;
  SlotPlan slots;                  // of ranks that share memory
  std::vector<int> cache_domains;  // cache domains by rank; kNoCacheDomain: not known

  // ---- of this rank's host: the same on all ranks there
  int local_ranks = 1;
  int cores = 1;            // cores that these ranks may use together
  bool pulls = false;       // all of them can read one another's memory
  bool maps_peers = false;  // they can have memory that all of them map

  [[nodiscard]] int lanes() const { return static_cast<int>(variables.worker_count); }
  [[nodiscard]] bool oversubscribed() const { return local_ranks > cores; }
};

}  // namespace tutti
