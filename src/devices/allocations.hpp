// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The device memory that Tutti has allocated in this process, by address. Drivers that cannot tell
// what a pointer is need it, and it tells the memory of one context from that of another. Any
// thread.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>

#include "devices/device.hpp"

namespace tutti::devices {

class OwnAllocations {
 public:
  struct Entry {
    MemoryPlace place;
    const void* owner = nullptr;  // the native context, of which there may be several views
  };

  // The process's.
  static OwnAllocations& of_process();

  // Gives it a number that is never used again. `place.base` is memory of `owner`.
  void add(MemoryPlace place, const void* owner);
  // False if `owner` has none there.
  bool remove(void* base, const void* owner);
  // The allocation that has the address, if there is one.
  [[nodiscard]] std::optional<Entry> find(const void* pointer) const;

 private:
  mutable std::mutex mutex_;
  std::map<uintptr_t, Entry> entries_;  // guarded by mutex_; by base
  uint64_t next_ = 1;                   // guarded by mutex_
};

}  // namespace tutti::devices
