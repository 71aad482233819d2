// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The pointers of a context: memory of its own, memory opened from other processes, and what the
// driver says of everything else.
#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "devices/device.hpp"
#include "devices/level_zero/inventory.hpp"

namespace tutti::devices::level_zero {

inline uintptr_t address(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

// The memory of one context. Any thread.
class Memory {
 public:
  Memory(const Library& ze, ze_context_handle_t context, const Device& device);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Asks the driver, unless it is memory of our own.
  Result<MemoryPlace> place_of(const void* pointer);
  // The last answer of place_of() for this allocation; asks only if there was none.
  Result<MemoryPlace> remembered(const void* pointer);

  Result<void*> allocate(MemoryKind kind, size_t bytes);
  Status free(void* memory);
  Result<MemoryHandle> export_handle(void* base);
  Result<void*> open(const MemoryHandle& handle);
  Status close(void* opened);

 private:
  struct Known {
    MemoryPlace place;
    bool ours = false;  // allocated or opened here: the driver need not be asked
    bool opened = false;
    uint64_t id = 0;  // the driver's number, if the driver was asked
  };

  // Guarded by mutex_, as is known_.
  std::map<uintptr_t, Known>::iterator find(const void* pointer);
  void forget(const void* begin, size_t bytes);

  Result<MemoryPlace> ask(const void* pointer);
  void remember(const Known& known);
  void remember_own(MemoryKind kind, void* base, size_t bytes, bool opened);
  std::optional<Known> take(void* base, bool opened);
  // kForeign, if another context of this process knows it; else kHost.
  [[nodiscard]] MemoryPlace ask_others(const void* pointer) const;

  const Library& ze_;
  ze_context_handle_t const context_;
  const Device& device_;
  std::mutex mutex_;
  std::map<uintptr_t, Known> known_;  // allocations by base
};

}  // namespace tutti::devices::level_zero
