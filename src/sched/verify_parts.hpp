// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The parts of a proof, in the order in which verify() puts them together.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sched/verify.hpp"
#include "sched/verify_memory.hpp"
#include "sched/verify_values.hpp"

namespace tutti {

// "rank 3 step 7 (await rank 2 tick 4)".
std::string step_text(std::span<const Schedule> schedules, int rank, size_t step);

// Checks each step by itself: bounds, ownership, ticks.
Status check_form(std::span<const Schedule> schedules, const Problems& problems);

// Does any rank publish, await or touch a shared space?
bool uses_shared_memory(std::span<const Schedule> schedules);

// The memory of all ranks and the rules for its use.
class RankMemories {
 public:
  RankMemories(std::span<const Schedule> schedules, const Problems& problems, bool with_clocks);

  // Appends what lies there. `under_way`: the reading goes on until end_sends().
  Status read(int rank, size_t step, const Ref& ref, uint64_t bytes, bool under_way,
              std::vector<Run>& runs);
  Status write(int rank, size_t step, const Ref& ref, std::span<const Run> runs);
  // Nobody pulls from the rank's buffers any more, and the rank knows.
  Status check_released(int rank) const;
  // All sends of the rank so far are complete.
  void end_sends(int rank);
  // The rank has entered the call: its peers may learn of it.
  void enter(int rank);

  Clocks& clocks() { return clocks_; }
  [[nodiscard]] const Memory& memory(const Location& location) const {
    return memories_[static_cast<size_t>(location.owner) * kSpaces +
                     static_cast<size_t>(location.space)];
  }

 private:
  static constexpr size_t kSpaces = 6;  // spaces with memory of their own
  Memory& memory(const Location& location) {
    return memories_[static_cast<size_t>(location.owner) * kSpaces +
                     static_cast<size_t>(location.space)];
  }
  void fill_buffers();
  Status check_readers(int rank, size_t step, const Location& location, uint64_t end) const;
  Status check_entries(int rank, size_t step);
  [[nodiscard]] bool knows_entry(int rank, int peer) const;

  std::span<const Schedule> schedules_;
  Problems problems_;
  const Problem& problem_;  // of rank 0, for what all ranks have in common
  std::vector<Memory> memories_;
  Clocks clocks_;
  std::vector<uint32_t> entered_;               // each rank's time of entry; UINT32_MAX: not yet
  std::vector<uint8_t> knows_all_entered_;      // a cache of what clocks_ would say
  std::vector<std::vector<Location>> sending_;  // per rank, from where sends are under way
};

// Appends the reduction of sources of equal length, whose runs it uses up. An error is the end of a
// sentence that begins with the step.
Status reduce_runs(std::span<std::vector<Run>> sources, uint32_t element_bytes, bool finishes,
                   Values& values, std::vector<Run>& result);

// Runs all schedules to their end; leaves the memory as they do.
Status run_schedules(std::span<const Schedule> schedules, const Problem& problem,
                     RankMemories& memories, Values& values);

// Whether the receive buffers hold what the collective promises.
Status check_results(const Problems& problems, const Claim& claim, const RankMemories& memories,
                     const Values& values);

}  // namespace tutti
