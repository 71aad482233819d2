// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The facts of a schedule that a lane must know before it runs it. traits_of() derives all of them
// from the steps. A plan then changes some for what goes beyond the schedule (LanePlan::traits
// in exec/plan.hpp). `tutti explain` prints those of the schedule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sched/schedule.hpp"

namespace tutti {

struct Traits {
  // The largest number of sources of a reduction.
  uint32_t most_sources = 0;
  // The first step that waits for a peer; 0 if none does.
  size_t first_wait = 0;
  // The schedule publishes tick 1 itself. If not, the lane enters the call before the first step.
  bool enters = false;
  // The rank may end the call before all peers have entered it (exec/call_log.hpp). They read at
  // most its line or slot, and it waits for single peers at most.
  bool runs_ahead = false;
  // Sends or receives.
  bool sends_messages = false;
  // Reads or writes the payload of call lines.
  bool uses_lines = false;
  // Writes the window of this rank; reads or writes the window of any.
  bool writes_window = false;
  bool uses_window = false;
  // How much of this rank's slot it writes, in bytes from the beginning.
  uint64_t slot_written = 0;
  // Bytes that it writes to slots and windows or reads there, in pieces that are long enough for
  // the distance of peers to matter (adapt/distance.hpp).
  uint64_t staged_bytes = 0;

  friend bool operator==(const Traits&, const Traits&) = default;
};

[[nodiscard]] Traits traits_of(const Schedule& schedule);

// E.g. "enters the call; waits first in step 3; writes 4096 B of its slot".
[[nodiscard]] std::string to_string(const Traits& traits);

}  // namespace tutti
