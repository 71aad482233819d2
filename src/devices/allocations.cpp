// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "devices/allocations.hpp"

namespace tutti::devices {

OwnAllocations& OwnAllocations::of_process() {
  static auto* const allocations = new OwnAllocations;  // outlives whatever frees at exit
  return *allocations;
}

void OwnAllocations::add(MemoryPlace place, const void* owner) {
  const std::lock_guard lock(mutex_);
  place.allocation = next_++;
  entries_[reinterpret_cast<uintptr_t>(place.base)] = {place, owner};
}

bool OwnAllocations::remove(void* base, const void* owner) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(reinterpret_cast<uintptr_t>(base));
  if (found == entries_.end() || found->second.owner != owner) return false;
  entries_.erase(found);
  return true;
}

std::optional<OwnAllocations::Entry> OwnAllocations::find(const void* pointer) const {
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  auto after = entries_.upper_bound(address);
  if (after == entries_.begin()) return std::nullopt;
  const Entry& entry = (--after)->second;
  if (address - after->first >= entry.place.bytes) return std::nullopt;
  return entry;
}

}  // namespace tutti::devices
