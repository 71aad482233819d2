// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What `tutti verify` proves of calls that follow on one another: sequences of calls drawn at
// random from all algorithms that use shared memory alone, run by the model (model.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tools/sequences/model.hpp"

namespace tutti {

// Settings so tight that slots and windows are used again after a few calls.
ModelOptions tight_options(int ranks, bool oversubscribed = false);

// Draws sequences of calls whose sizes lie in all classes of the slot allocator.
class CallKinds {
 public:
  // At least every second call is by one of the `wanted` algorithms.
  CallKinds(const ModelOptions& options, std::span<const Algorithm* const> wanted);

  // `calls` calls of all kinds, or, if `few` is not 0, of that many kinds only: in turn if the seed
  // is odd, else in any order.
  [[nodiscard]] SequenceModel::Plans draw(uint32_t seed, size_t calls, size_t few) const;
  // The number of kinds that the wanted algorithms have: 0 if none uses shared memory alone.
  [[nodiscard]] size_t wanted() const { return wanted_; }

 private:
  using Kind = std::vector<std::shared_ptr<const Plan>>;  // by rank

  const size_t ranks_;
  std::vector<Kind> kinds_;  // those of the wanted algorithms first
  size_t wanted_ = 0;
};

struct SequenceTally {
  uint64_t sequences = 0;
  uint64_t calls = 0;  // of each rank, in all of them
  std::string failure;
};

// The numbers of ranks for which sequences are proved.
inline constexpr int kLeastRanksOfSequences = 2;
inline constexpr int kMostRanksOfSequences = 5;

// Of calls by the wanted algorithms among others; gives up after the first failure.
void prove_sequences(std::span<const Algorithm* const> wanted, int ranks, SequenceTally& tally);

}  // namespace tutti
