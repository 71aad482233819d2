// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Memory that a communicator gives to its user, with an account of it: what is not given back by
// then goes with the communicator. From kLeastShared on it is such as the peers can read, if the
// transport has any.
#pragma once

#include <cstddef>
#include <unordered_map>

#include "core/status.hpp"
#include "transports/transport.hpp"

namespace tutti {

class Allocations {
 public:
  Allocations() = default;
  ~Allocations();
  Allocations(const Allocations&) = delete;
  Allocations& operator=(const Allocations&) = delete;

  // Zeroed and present in memory; null for 0 bytes.
  Result<void*> allocate(size_t bytes, Transport& transport);
  // Gives back what allocate() gave from the same transport; null is nothing.
  Status free(void* memory, Transport& transport);

 private:
  enum class Source { kHeap, kPages, kTransport };
  struct Origin {
    Source source;
    size_t mapped;  // of pages
  };
  static void release(void* memory, const Origin& origin);
  static Result<void*> obtain(size_t bytes, Transport& transport, Origin& origin);

  std::unordered_map<void*, Origin> origins_;
};

}  // namespace tutti
