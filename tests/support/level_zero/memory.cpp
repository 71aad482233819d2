// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "support/level_zero/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>
#include <new>

#include "support/level_zero/device.hpp"
#include "support/level_zero/switches.hpp"

namespace tutti_test::ze {

namespace {

constexpr size_t kPage = 4096;
constexpr unsigned char kBeyond = 0xa5;  // between the end of an allocation and that of its page

struct Known {
  std::mutex mutex;
  std::map<uintptr_t, Memory> by_base;
};

Known& known() {
  static auto* const all = new Known;
  return *all;
}

std::atomic<uint64_t> next_id{1};

size_t whole_pages(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

}  // namespace

Mapping::Mapping(int fd, size_t bytes) : bytes_(bytes) {
  void* all = mmap(nullptr, bytes + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) throw std::bad_alloc();
  at_ = static_cast<char*>(all) + kPage;
  if (fd >= 0 && mmap(at_, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != at_) {
    munmap(all, bytes + 2 * kPage);
    throw std::bad_alloc();
  }
}

Mapping::~Mapping() { munmap(at_ - kPage, bytes_ + 2 * kPage); }

Allocation::Allocation(ze_context_handle_t context_, ze_device_handle_t device_,
                       ze_memory_type_t type_, int fd_, size_t bytes_, bool opened_)
    : Object(opened_ ? "opened memory" : "memory"),
      context(context_),
      device(device_),
      type(type_),
      fd(fd_),
      bytes(bytes_),
      bytes_mapped(whole_pages(bytes_)),
      opened(opened_),
      id(switches().one_id ? 1 : next_id++),
      reach(fd_, bytes_mapped),
      hidden(type_ == ZE_MEMORY_TYPE_DEVICE ? std::make_unique<const Mapping>(-1, bytes_mapped)
                                            : nullptr) {
  if (!opened) std::memset(reach.at() + bytes, kBeyond, bytes_mapped - bytes);
}

Allocation::~Allocation() {
  if (!opened) {
    for (size_t i = bytes; i < bytes_mapped; i++) {
      if (static_cast<unsigned char>(reach.at()[i]) != kBeyond) {
        complain("bytes after the end of an allocation were written");
        break;
      }
    }
    if (device) device->root->bytes_used -= bytes_mapped;
  }
  close(fd);
}

Memory find_memory(const void* pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const std::lock_guard lock(known().mutex);
  auto after = known().by_base.upper_bound(address);
  if (after == known().by_base.begin()) return nullptr;
  const auto& [base, memory] = *--after;
  return address < base + memory->bytes ? memory : nullptr;
}

Place find_place(ze_context_handle_t context, ze_device_handle_t device, const void* pointer,
                 size_t bytes) {
  require(pointer != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "the pointer is null");
  const Memory memory = find_memory(pointer);
  require(memory != nullptr, ZE_RESULT_ERROR_INVALID_ARGUMENT,
          "the pointer is not of memory of the driver");
  require(memory->context == context, ZE_RESULT_ERROR_INVALID_ARGUMENT,
          "the pointer is of another context");
  require(!memory->device || reaches(*device, *memory->device), ZE_RESULT_ERROR_INVALID_ARGUMENT,
          "the device cannot reach the memory of the other");
  const auto offset = static_cast<size_t>(static_cast<const char*>(pointer) - memory->base());
  require(bytes <= memory->bytes - offset, ZE_RESULT_ERROR_INVALID_SIZE,
          "the range goes beyond its allocation");
  return {memory, memory->reach.at() + offset};
}

void* add_memory(Memory memory) {
  const std::lock_guard lock(known().mutex);
  char* const base = memory->base();
  known().by_base[reinterpret_cast<uintptr_t>(base)] = std::move(memory);
  return base;
}

void remove_memory(const Memory& memory) {
  if (memory->commands != 0) complain("memory is freed while commands use it");
  const std::lock_guard lock(known().mutex);
  known().by_base.erase(reinterpret_cast<uintptr_t>(memory->base()));
}

}  // namespace tutti_test::ze
