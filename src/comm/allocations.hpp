// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Memory that a communicator gives to its user, with an account of it: blocks that are not given
// back go with the communicator. The peers can read blocks of 16 KiB or more, if there is such
// memory.
#pragma once

#include <cstddef>
#include <unordered_map>

#include "core/status.hpp"
#include "transports/shared_memory.hpp"

namespace tutti {

class Allocations {
 public:
  Allocations() = default;
  ~Allocations();
  Allocations(const Allocations&) = delete;
  Allocations& operator=(const Allocations&) = delete;

  // Zeroed and present in memory; null for 0 bytes.
  Result<void*> allocate(size_t bytes, SharedMemory& shared);
  // Gives back what allocate() gave from the same memory; null is nothing.
  Status free(void* memory, SharedMemory& shared);

 private:
  enum class Source { kHeap, kPages, kTransport };
  struct Origin {
    Source source;
    size_t mapped;  // bytes of its pages
  };
  static void release(void* memory, const Origin& origin);
  static Result<void*> obtain(size_t bytes, SharedMemory& shared, Origin& origin);

  std::unordered_map<void*, Origin> origins_;
};

}  // namespace tutti
