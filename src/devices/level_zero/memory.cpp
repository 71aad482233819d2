// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "devices/level_zero/memory.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

namespace tutti::devices::level_zero {
namespace {

constexpr size_t kAlignment = 64;
// Allocations of the application that are remembered; then all are forgotten.
constexpr size_t kMostKnown = 1024;

MemoryKind kind_of(ze_memory_type_t type) {
  switch (type) {
    case ZE_MEMORY_TYPE_HOST: return MemoryKind::kPinned;
    case ZE_MEMORY_TYPE_DEVICE: return MemoryKind::kDevice;
    case ZE_MEMORY_TYPE_SHARED: return MemoryKind::kShared;
    default: return MemoryKind::kHost;
  }
}

// A number for an allocation. The driver's tell one from those that lay at its address before, and
// no more: nothing says that another allocation has another one.
uint64_t next_number() {
  static std::atomic<uint64_t> next{uint64_t{1} << 63};
  return next.fetch_add(1, std::memory_order_relaxed);
}

// The contexts that this process uses, by which a pointer of another one is told from the host's.
struct Contexts {
  std::mutex mutex;
  std::vector<ze_context_handle_t> used;
};
Contexts& contexts() {
  static auto* const all = new Contexts;  // outlives whatever is freed at exit
  return *all;
}

}  // namespace

Memory::Memory(const Library& ze, ze_context_handle_t context, const Device& device)
    : ze_(ze), context_(context), device_(device) {
  const std::lock_guard lock(contexts().mutex);
  contexts().used.push_back(context);
}

Memory::~Memory() {
  const std::lock_guard lock(contexts().mutex);
  auto& used = contexts().used;
  used.erase(std::ranges::find(used, context_));
}

// ---- what is known -----------------------------------------------------------------------------

std::map<uintptr_t, Memory::Known>::iterator Memory::find(const void* pointer) {
  auto after = known_.upper_bound(address(pointer));
  if (after == known_.begin()) return known_.end();
  --after;
  return address(pointer) - after->first < after->second.place.bytes ? after : known_.end();
}

void Memory::forget(const void* begin, size_t bytes) {
  auto next = find(begin);
  if (next == known_.end()) next = known_.lower_bound(address(begin));
  while (next != known_.end() && next->first < address(begin) + bytes) next = known_.erase(next);
}

void Memory::remember_own(MemoryKind kind, void* base, size_t bytes, bool opened) {
  remember({.place = {.kind = kind,
                      .base = base,
                      .bytes = bytes,
                      .allocation = next_number(),
                      .device = kind == MemoryKind::kDevice ? device_.id : nullptr},
            .ours = true,
            .opened = opened});
}

void Memory::remember(const Known& known) {
  const std::lock_guard lock(mutex_);
  if (known_.size() > kMostKnown) {
    std::erase_if(known_, [](const auto& entry) { return !entry.second.ours; });
  }
  forget(known.place.base, known.place.bytes);
  known_[address(known.place.base)] = known;
}

Result<MemoryPlace> Memory::place_of(const void* pointer) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto own = find(pointer); own != known_.end() && own->second.ours) {
      return own->second.place;
    }
  }
  return ask(pointer);
}

Result<MemoryPlace> Memory::remembered(const void* pointer) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = find(pointer); found != known_.end()) return found->second.place;
  }
  return ask(pointer);
}

Result<MemoryPlace> Memory::ask(const void* pointer) {
  // A call without buffers has none; drivers refuse it.
  if (pointer == nullptr) return MemoryPlace{};
  ze_memory_allocation_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
  ze_device_handle_t device = nullptr;
  const ze_result_t result = ze_.zeMemGetAllocProperties(context_, pointer, &properties, &device);
  // The specification leaves open what is said of memory that is none of any context.
  if (result == ZE_RESULT_ERROR_INVALID_ARGUMENT) {
    properties.type = ZE_MEMORY_TYPE_UNKNOWN;
  } else if (result != ZE_RESULT_SUCCESS) {
    return failed(result, "zeMemGetAllocProperties");
  }
  MemoryPlace place{.kind = kind_of(properties.type)};
  std::unique_lock lock(mutex_);
  const auto found = find(pointer);
  if (place.on_host()) {
    if (found != known_.end()) known_.erase(found);
    lock.unlock();
    return ask_others(pointer);
  }
  place.device = device;
  if (place.kind == MemoryKind::kDevice) {  // who has no name is taken for this one
    const Device* const owner = find_device(device);
    place.device = owner == nullptr ? device_.id : device;
    if (owner != nullptr && !reaches(ze_, device_, *owner)) place.kind = MemoryKind::kBeyond;
  }
  if (properties.id != 0 && found != known_.end() && found->second.id == properties.id) {
    return found->second.place;
  }
  lock.unlock();
  TUTTI_LEVEL_ZERO_CALL(ze_, zeMemGetAddressRange, context_, pointer, &place.base, &place.bytes);
  if (properties.id != 0) place.allocation = next_number();
  remember({.place = place, .id = properties.id});
  return place;
}

MemoryPlace Memory::ask_others(const void* pointer) const {
  const std::lock_guard lock(contexts().mutex);
  for (ze_context_handle_t const other : contexts().used) {
    ze_memory_allocation_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
    MemoryPlace place{.kind = MemoryKind::kForeign};
    ze_device_handle_t device = nullptr;
    if (other == context_ ||
        ze_.zeMemGetAllocProperties(other, pointer, &properties, &device) != ZE_RESULT_SUCCESS ||
        properties.type == ZE_MEMORY_TYPE_UNKNOWN ||
        ze_.zeMemGetAddressRange(other, pointer, &place.base, &place.bytes) != ZE_RESULT_SUCCESS) {
      continue;
    }
    place.allocation = properties.id;
    place.device = device;
    return place;
  }
  return {};
}

// ---- memory of our own -------------------------------------------------------------------------

Result<void*> Memory::allocate(MemoryKind kind, size_t bytes) {
  const ze_device_mem_alloc_desc_t of_device{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0,
                                             0};
  const ze_host_mem_alloc_desc_t of_host{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
  void* memory = nullptr;
  if (kind == MemoryKind::kDevice) {
    TUTTI_LEVEL_ZERO_CALL(ze_, zeMemAllocDevice, context_, &of_device, bytes, kAlignment,
                          device_.id, &memory);
  } else {
    TUTTI_LEVEL_ZERO_CALL(ze_, zeMemAllocHost, context_, &of_host, bytes, kAlignment, &memory);
  }
  remember_own(kind, memory, bytes, false);
  return memory;
}

// Forgets memory and returns it; nothing if it was not of this kind.
std::optional<Memory::Known> Memory::take(void* base, bool opened) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(address(base));
  if (found == known_.end() || !found->second.ours || found->second.opened != opened) {
    return std::nullopt;
  }
  Known known = found->second;
  known_.erase(found);
  return known;
}

Status Memory::free(void* memory) {
  if (!take(memory, false)) {
    return Status::format(Code::kInvalidArgument, "{} is no memory that it has allocated", memory);
  }
  TUTTI_LEVEL_ZERO_CALL(ze_, zeMemFree, context_, memory);
  return {};
}

}  // namespace tutti::devices::level_zero
