// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The uses of the ranks' memory by phases of a composition, for proofs (verify_compositions.cpp).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/composition.hpp"
#include "exec/plan.hpp"
#include "sched/verify_parts.hpp"

namespace tutti::tools {

// Symbolic memory of all ranks, to which phases are applied one after the other.
class PhaseEffects {
 public:
  // `problems` outlive it.
  explicit PhaseEffects(const Problems& problems);

  void set_scratch(int rank, uint64_t bytes) { scratch_[static_cast<size_t>(rank)] = bytes; }
  // A phase that `ranks` run together: phases[i] is that of ranks[i].
  Status perform(std::span<const int> ranks, std::span<const Phase* const> phases);
  Status move(int rank, std::span<const Move> moves);
  // Whether the receive buffers hold what the collective promises.
  [[nodiscard]] Status check_results(const Claim& claim) const;

 private:
  Status broadcast(std::span<const int> ranks, std::span<const Phase* const> phases);
  Status exchange(std::span<const int> ranks, std::span<const Phase* const> phases);
  Status reduce(std::span<const int> ranks, std::span<const Phase* const> phases);
  [[nodiscard]] Range block(const Phase& phase, const BlockLayout& layout, size_t index) const;
  [[nodiscard]] Status check_inside(int rank, const Ref& ref, const Range& range) const;
  Status read(int rank, const Ref& ref, const Range& range, std::vector<Run>& runs);
  Status write(int rank, const Ref& ref, const Range& range, std::span<const Run> runs);

  const Problems& problems_;
  const uint32_t element_bytes_;
  const std::vector<Schedule> schedules_;  // without steps
  std::vector<uint64_t> scratch_;          // scratch memory by rank, in bytes
  RankMemories memories_;
  Values values_;
};

using ScopesOfRank = std::array<const PlanContext*, kScopes>;

// Phases of the two scopes that nothing orders must not touch the same memory of a rank.
Status check_overlap(const Composition& composition, const Problems& problems,
                     const ScopesOfRank& scopes, int rank);

}  // namespace tutti::tools
