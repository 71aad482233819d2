// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Memory that a communicator gives to its user, with an account of it: what is not given back by
// then goes with the communicator.
#pragma once

#include <cstddef>
#include <unordered_map>

#include "core/status.hpp"

namespace tutti {

class Allocations {
 public:
  Allocations() = default;
  ~Allocations();
  Allocations(const Allocations&) = delete;
  Allocations& operator=(const Allocations&) = delete;

  // Zeroed and present in memory; null for 0 bytes.
  Result<void*> allocate(size_t bytes);
  // Gives back what allocate() gave; null is nothing.
  Status free(void* memory);

 private:
  std::unordered_map<void*, size_t> sizes_;  // as mapped; 0: from the heap
};

}  // namespace tutti
