// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How transports learn of one another while a communicator is being made, without knowing who
// provides it: the bootstrap service, or the parent of a split.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/status.hpp"

namespace tutti {

class Exchange {
 public:
  virtual ~Exchange() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int ranks() const = 0;
  // Collective: gives every rank's bytes (at most 4096 each) in rank order. Ends with an error
  // naming the missing ranks when they do not arrive before the deadline set at its creation.
  virtual Result<std::vector<std::vector<std::byte>>> allgather(
      std::span<const std::byte> mine) = 0;
};

}  // namespace tutti
