// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "select/limits.hpp"

#include <algorithm>

namespace tutti {
namespace {

// Where nothing is timed, receive buffers of this length are written past the caches: few
// processors have caches that hold them.
constexpr uint64_t kLeastNonTemporal = 64 << 20;

}  // namespace

Limits limits_of(const JobVariables& variables, int ranks, int cores) {
  const bool oversubscribed = ranks > cores;
  return {.slots = SlotPlan::of(variables.slot_bytes, ranks),
          .window_bytes = variables.window_bytes,
          .chunk_bytes = std::min(variables.chunk_bytes, variables.window_bytes / 2),
          // What a process takes for its last-level cache may be shared with others: on a virtual
          // machine, with processes that it cannot see.
          .non_temporal_bytes = variables.stream_bytes.value_or(kLeastNonTemporal),
          .pulls = pulls_for(variables),
          // Ranks that share cores bound by that how many read at a time.
          .pull_readers = oversubscribed ? 0 : static_cast<int>(variables.pull_readers),
          .tries_non_temporal = !variables.stream_bytes.has_value(),
          .pulls_few = oversubscribed && !variables.pull.has_value(),
          .oversubscribed = oversubscribed};
}

Limits limits_on_host(const PlanInputs& inputs) {
  Limits limits = limits_of(inputs.variables, inputs.local_ranks, inputs.cores);
  limits.slots = inputs.slots;
  limits.pulls = inputs.pulls;
  return limits;
}

bool pulls_for(const JobVariables& variables) { return variables.pull.value_or(true); }

}  // namespace tutti
