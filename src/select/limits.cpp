// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "select/limits.hpp"

#include <algorithm>

#include "core/tuned.hpp"

namespace tutti {
namespace {

// Where nothing else is known. What a process takes for its last-level cache may be shared with
// others: on a virtual machine, with processes that it cannot see.
constexpr uint64_t kStreamBytes = tuned::kLeastStreamed;

}  // namespace

Limits limits_of(const Environment& environment, int ranks, int cores) {
  const bool oversubscribed = ranks > cores;
  return {.slots = SlotPlan::of(environment.slot_bytes, ranks),
          .window_bytes = environment.window_bytes,
          .chunk_bytes = std::min(environment.chunk_bytes, environment.window_bytes / 2),
          .stream_bytes = environment.stream_bytes.value_or(kStreamBytes),
          .pulls = pulls_for(environment),
          .pull_readers = readers_for(environment, ranks, cores),
          .tries_streams = !environment.stream_bytes.has_value(),
          .pulls_few = oversubscribed && !environment.pull.has_value(),
          .oversubscribed = oversubscribed};
}

int readers_for(const Environment& environment, int ranks, int cores) {
  return ranks > cores ? 0 : static_cast<int>(environment.pull_readers);
}

bool pulls_for(const Environment& environment) { return environment.pull.value_or(true); }

}  // namespace tutti
