// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// zeMem*, but for handles to other processes.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

#include "support/level_zero/calls.hpp"
#include "support/level_zero/device.hpp"
#include "support/level_zero/entry.hpp"
#include "support/level_zero/memory.hpp"
#include "support/level_zero/switches.hpp"

namespace tutti_test::ze {

namespace {

void charge(ze_device_handle_t device, size_t bytes) {
  static std::atomic<long> allocations{0};
  const long before = allocations++;
  const bool refused = switches().fail_alloc_after >= 0 && before >= switches().fail_alloc_after;
  require(!refused, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "allocations fail from now on");
  if (!device) return;
  const size_t mapped = (bytes + 4095) / 4096 * 4096;  // as the allocation will give back
  if (device->root->bytes_used.fetch_add(mapped) + mapped > memory_of_device()) {
    device->root->bytes_used -= mapped;
    throw Refusal{ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "the device has no more memory"};
  }
}

void* allocate(ze_context_handle_t context, ze_device_handle_t device, ze_memory_type_t type,
               size_t bytes, size_t alignment) {
  require(bytes > 0 && bytes <= memory_of_device(), ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
          "the size is none that the device can have");
  require((alignment & (alignment - 1)) == 0 && alignment <= 4096,
          ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, "the alignment is no power of two up to 4096");
  charge(device, bytes);
  const int fd = memfd_create("tutti test device", MFD_CLOEXEC);
  const size_t mapped = (bytes + 4095) / 4096 * 4096;
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(mapped)) != 0) {
    if (fd >= 0) close(fd);
    throw std::bad_alloc();
  }
  return add_memory(std::make_shared<Allocation>(context, device, type, fd, bytes, false));
}

ze_result_t alloc_device(ze_context_handle_t context, const ze_device_mem_alloc_desc_t* desc,
                         size_t bytes, size_t alignment, ze_device_handle_t device,
                         void** pointer) {
  require(device != nullptr, ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "no device");
  check_structure(desc);
  require(pointer, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no place");
  *pointer = allocate(context, device, ZE_MEMORY_TYPE_DEVICE, bytes, alignment);
  return ZE_RESULT_SUCCESS;
}

ze_result_t alloc_host(ze_context_handle_t context, const ze_host_mem_alloc_desc_t* desc,
                       size_t bytes, size_t alignment, void** pointer) {
  check_structure(desc);
  require(pointer, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no place");
  *pointer = allocate(context, nullptr, ZE_MEMORY_TYPE_HOST, bytes, alignment);
  return ZE_RESULT_SUCCESS;
}

ze_result_t alloc_shared(ze_context_handle_t context, const ze_device_mem_alloc_desc_t* of_device,
                         const ze_host_mem_alloc_desc_t* of_host, size_t bytes, size_t alignment,
                         ze_device_handle_t device, void** pointer) {
  require(of_device && of_host && pointer, ZE_RESULT_ERROR_INVALID_NULL_POINTER,
          "no description, or no place");
  *pointer = allocate(context, device, ZE_MEMORY_TYPE_SHARED, bytes, alignment);
  return ZE_RESULT_SUCCESS;
}

ze_result_t free_memory(ze_context_handle_t context, void* pointer) {
  const Memory memory = find_memory(pointer);
  require(memory && memory->base() == pointer && memory->context == context && !memory->opened,
          ZE_RESULT_ERROR_INVALID_ARGUMENT, "not the beginning of an allocation of the context");
  remove_memory(memory);
  return ZE_RESULT_SUCCESS;
}

// Of the context, and one that the driver tells of.
bool tells_of(const Memory& memory, ze_context_handle_t context) {
  return memory && memory->context == context && !(memory->opened && switches().silent_ipc);
}

ze_result_t get_properties(ze_context_handle_t context, const void* pointer,
                           ze_memory_allocation_properties_t* properties,
                           ze_device_handle_t* device) {
  require(pointer != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "the pointer is null");
  ze_memory_allocation_properties_t made{};
  made.type = ZE_MEMORY_TYPE_UNKNOWN;
  const Memory memory = find_memory(pointer);
  require(memory || !switches().refuse_unknown, ZE_RESULT_ERROR_INVALID_ARGUMENT,
          "the pointer is not of memory of the driver");
  const bool ours = tells_of(memory, context);
  if (ours) {
    made.type = memory->type;
    made.id = memory->id;
    made.pageSize = 4096;
  }
  return_properties(properties, made);
  if (device) *device = ours ? memory->device : nullptr;
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_range(ze_context_handle_t context, const void* pointer, void** base,
                      size_t* bytes) {
  const Memory memory = find_memory(pointer);
  require(tells_of(memory, context), ZE_RESULT_ERROR_INVALID_ARGUMENT,
          "the pointer is not of memory of the context");
  if (base) *base = memory->base();
  if (bytes) *bytes = memory->bytes;
  return ZE_RESULT_SUCCESS;
}

}  // namespace

void fill(ze_mem_dditable_t* table) {
  table->pfnAllocShared = entry<alloc_shared>("zeMemAllocShared");
  table->pfnAllocDevice = entry<alloc_device>("zeMemAllocDevice");
  table->pfnAllocHost = entry<alloc_host>("zeMemAllocHost");
  table->pfnFree = entry<free_memory>("zeMemFree");
  table->pfnGetAllocProperties = entry<get_properties>("zeMemGetAllocProperties");
  table->pfnGetAddressRange = entry<get_range>("zeMemGetAddressRange");
  fill_ipc(table);
}

}  // namespace tutti_test::ze
