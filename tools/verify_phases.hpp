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

// Symbolic memory of all ranks, to which phases are applied one after the other.
class PhaseEffects {
 public:
  // `problems` outlive it.
  explicit PhaseEffects(const tutti::Problems& problems);

  void set_scratch(int rank, uint64_t bytes) { scratch_[static_cast<size_t>(rank)] = bytes; }
  // A phase that `ranks` run together: phases[i] is that of ranks[i].
  tutti::Status perform(std::span<const int> ranks, std::span<const tutti::Phase* const> phases);
  tutti::Status move(int rank, std::span<const tutti::Move> moves);
  // Whether the receive buffers hold what the collective promises.
  [[nodiscard]] tutti::Status check_results(const tutti::Claim& claim) const;

 private:
  tutti::Status broadcast(std::span<const int> ranks, std::span<const tutti::Phase* const> phases);
  tutti::Status exchange(std::span<const int> ranks, std::span<const tutti::Phase* const> phases);
  tutti::Status reduce(std::span<const int> ranks, std::span<const tutti::Phase* const> phases);
  [[nodiscard]] tutti::Range block(const tutti::Phase& phase, const tutti::BlockLayout& layout,
                                   size_t index) const;
  [[nodiscard]] tutti::Status check_inside(int rank, const tutti::Ref& ref,
                                           const tutti::Range& range) const;
  tutti::Status read(int rank, const tutti::Ref& ref, const tutti::Range& range,
                     std::vector<tutti::Run>& runs);
  tutti::Status write(int rank, const tutti::Ref& ref, const tutti::Range& range,
                      std::span<const tutti::Run> runs);

  const tutti::Problems& problems_;
  const uint32_t element_bytes_;
  const std::vector<tutti::Schedule> schedules_;  // without steps
  std::vector<uint64_t> scratch_;                 // scratch memory by rank, in bytes
  tutti::RankMemories memories_;
  tutti::Values values_;
};

using ScopesOfRank = std::array<const tutti::PlanContext*, tutti::kScopes>;

// Phases of the two scopes that nothing orders must not touch the same memory of a rank.
tutti::Status check_overlap(const tutti::Composition& composition, const tutti::Problems& problems,
                            const ScopesOfRank& scopes, int rank);
