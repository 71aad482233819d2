// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Gets memory for the user from the transport, from pages of its own or from the heap.
#include "comm/allocations.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "core/pages.hpp"
#include "core/wait.hpp"

namespace tutti {
namespace {

// Shorter messages never pull.
constexpr size_t kLeastMappedBytes = size_t{16} << 10;
constexpr size_t kMost = PTRDIFF_MAX - 2 * kHugePage;

Status no_memory(size_t bytes) {
  return Status::format(Code::kOutOfMemory, "there is no memory for {} bytes", bytes);
}

Result<void*> map(size_t bytes) {
  std::byte* const memory = map_aligned(bytes, PROT_READ | PROT_WRITE);
  if (memory == nullptr) return no_memory(bytes);
  madvise(memory, bytes, MADV_HUGEPAGE);  // a hint; small pages do too
  if (populate(memory, bytes)) return static_cast<void*>(memory);
  munmap(memory, bytes);
  return no_memory(bytes);
}

Result<void*> take_from_heap(size_t bytes) {
  void* const memory = std::aligned_alloc(kCacheLine, round_up(bytes, kCacheLine));
  if (memory == nullptr) return no_memory(bytes);
  std::memset(memory, 0, bytes);
  return memory;
}

}  // namespace

// The transport's own memory needs no release: it is gone with the transport.
void Allocations::release(void* memory, const Origin& origin) {
  if (origin.source == Source::kHeap) std::free(memory);
  if (origin.source == Source::kPages) munmap(memory, origin.mapped);
}

Allocations::~Allocations() {
  for (const auto& [memory, origin] : origins_) release(memory, origin);
}

Result<void*> Allocations::obtain(size_t bytes, SharedMemory& shared, Origin& origin) {
  if (bytes >= kLeastMappedBytes) {
    origin = {Source::kTransport, 0};
    if (void* const memory = shared.allocate(bytes)) return memory;
  }
  if (bytes < kHugePage) {
    origin = {Source::kHeap, 0};
    return take_from_heap(bytes);
  }
  origin = {Source::kPages, round_up(bytes, kHugePage)};
  return map(origin.mapped);
}

Result<void*> Allocations::allocate(size_t bytes, SharedMemory& shared) {
  if (bytes == 0) return static_cast<void*>(nullptr);
  if (bytes > kMost) return no_memory(bytes);
  Origin origin{};
  const Result<void*> memory = obtain(bytes, shared, origin);
  if (!memory.ok()) return memory;
  try {
    origins_.emplace(*memory, origin);
  } catch (const std::bad_alloc&) {
    if (origin.source == Source::kTransport) shared.free(*memory);
    release(*memory, origin);
    return no_memory(bytes);
  }
  return memory;
}

Status Allocations::free(void* memory, SharedMemory& shared) {
  if (memory == nullptr) return {};
  const auto found = origins_.find(memory);
  if (found == origins_.end()) {
    return Status::format(Code::kInvalidArgument,
                          "{} is not memory that this communicator has given and not yet got back",
                          memory);
  }
  if (found->second.source == Source::kTransport) shared.free(memory);
  release(memory, found->second);
  origins_.erase(found);
  return {};
}

}  // namespace tutti
