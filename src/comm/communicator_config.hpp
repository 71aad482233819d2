// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The wishes of a communicator's user: the caller's struct, over the defaults of the environment.
#pragma once

#include <tutti/tutti.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/wait.hpp"
#include "env/env.hpp"

namespace tutti {

struct CommunicatorConfig {
  int64_t timeout_ms = kNever;
  int64_t init_timeout_ms = kNever;
  bool strict = false;
  std::string name;
  tutti_tuner tuner = {};  // without a function: none
  // The number of each rank in the whole job, if the communicator has a part of its ranks.
  std::vector<int> global_ranks = {};
};
// The caller's struct (may be null) over the environment's defaults.
Result<CommunicatorConfig> resolve_config(const tutti_comm_config* config,
                                          const Environment& environment);

}  // namespace tutti
