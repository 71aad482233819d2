// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Memory of the test driver. Each allocation is a file in memory. Memory of a device is reserved
// where the application sees it, without access, and mapped a second time where only the driver
// does: so the host faults as soon as it touches what only the device may. Pages without access lie
// around both.
#pragma once

#include <level_zero/ze_api.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "support/level_zero/object.hpp"

namespace tutti_test::ze {

// Pages of a file, with a page that nobody may touch before and after them.
class Mapping {
 public:
  // Without access where fd is -1.
  Mapping(int fd, size_t bytes);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  char* at() const { return at_; }

 private:
  char* at_;
  size_t bytes_;
};

struct Allocation : Object {
  Allocation(ze_context_handle_t context, ze_device_handle_t device, ze_memory_type_t type, int fd,
             size_t bytes, bool opened);
  ~Allocation() override;

  const ze_context_handle_t context;
  const ze_device_handle_t device;  // null for memory of the host
  const ze_memory_type_t type;
  const int fd;
  const size_t bytes;
  const size_t bytes_mapped;
  const bool opened;  // by a handle of another process, or of this one
  const uint64_t id;
  const Mapping reach;                          // where commands read and write
  const std::unique_ptr<const Mapping> hidden;  // what the application sees instead, without access
  std::atomic<int> commands{0};                 // which have begun to need it and are not done

  char* base() const { return hidden ? hidden->at() : reach.at(); }
};

using Memory = std::shared_ptr<Allocation>;

// Where commands find what an application calls by its pointer.
struct Place {
  Memory memory;
  char* at;
};

// The allocation around the pointer, or none.
Memory find_memory(const void* pointer);
// The same for `bytes` from there that `device` may touch, or a refusal.
Place find_place(ze_context_handle_t context, ze_device_handle_t device, const void* pointer,
                 size_t bytes);
void* add_memory(Memory memory);
// What find_memory() then no longer finds.
void remove_memory(const Memory& memory);

}  // namespace tutti_test::ze
