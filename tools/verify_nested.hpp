// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Calls of a column whose hosts are in groups, which may be compositions themselves, for proofs.
#pragma once

#include <span>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "tools/verify_phases.hpp"
#include "tools/verify_walk.hpp"

// Performs the phases of a composition over `hosts`. Those of columns whose hosts are in groups it
// performs as the phases of `within_columns` for their collective, if that applies.
class NestedPhases final : public PhaseSink {
 public:
  using AlgorithmOf = const tutti::Algorithm* (*)(tutti::Collective);

  // All outlive it. `scratch_bytes`: of each rank, without what columns need.
  NestedPhases(const tutti::Hosts& hosts, uint32_t element_bytes, AlgorithmOf within_columns,
               std::vector<uint64_t> scratch_bytes, PhaseEffects& effects);

  tutti::Status perform(tutti::Scope scope, std::span<const int> ranks,
                        std::span<const tutti::Phase* const> phases) override;
  tutti::Status move(int rank, std::span<const tutti::Move> moves) override;
  // How many phases columns have had in the place of one.
  [[nodiscard]] size_t nested() const { return nested_; }

 private:
  tutti::Status perform_composed(const tutti::Algorithm& algorithm,
                                 const std::vector<tutti::Problem>& problems,
                                 std::span<const int> ranks,
                                 std::span<const tutti::Phase* const> phases);

  const tutti::Hosts& hosts_;
  const uint32_t element_bytes_;
  const AlgorithmOf within_columns_;
  const std::vector<uint64_t> scratch_bytes_;
  PhaseEffects& effects_;
  size_t nested_ = 0;
};
