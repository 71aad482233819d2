// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Sequences of calls drawn at random from all algorithms that use shared memory alone.
#pragma once

#include <cstdint>
#include <vector>

#include "proof/model.hpp"

namespace tutti {

// Settings so tight that slots and windows are used again after a few calls.
ModelOptions tight_options(int ranks, bool oversubscribed = false);

// A call of `count` floats by that algorithm on each rank; empty if it does not apply, or sends
// messages. `in_place`: on the ranks that can.
std::vector<ModelCall> shared_calls(const Algorithm& algorithm, uint64_t count, int root,
                                    bool in_place, const ModelOptions& options);

// The sizes of the calls lie in all classes of the slot allocator.
class CallKinds {
 public:
  explicit CallKinds(const ModelOptions& options);

  // `calls` calls of all kinds, or, if `few` is not 0, of that many kinds only: in turn if the seed
  // is odd, else in any order.
  [[nodiscard]] SequenceModel::Calls draw(uint32_t seed, size_t calls, size_t few) const;
  [[nodiscard]] size_t size() const { return kinds_.size(); }

 private:
  const size_t ranks_;
  std::vector<std::vector<ModelCall>> kinds_;  // by rank
};

}  // namespace tutti
