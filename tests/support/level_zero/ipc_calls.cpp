// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Handles by which other processes open memory. A handle names the beginning of an allocation, also
// where it is asked for by a pointer into it. Its first bytes are a file descriptor of this
// process: whoever sends it to another process has to send that, too, and to put the number there
// in its place.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "support/level_zero/calls.hpp"
#include "support/level_zero/device.hpp"
#include "support/level_zero/entry.hpp"
#include "support/level_zero/memory.hpp"
#include "support/level_zero/switches.hpp"

namespace tutti_test::ze {

namespace {

struct Handle {
  int fd;
  uint32_t mark;
  uint64_t bytes;
  uint64_t inode;  // of the file, by which a wrong descriptor is noticed
};
static_assert(sizeof(Handle) <= sizeof(ze_ipc_mem_handle_t));
constexpr uint32_t kMark = 0x747a6531;

uint64_t inode_of(int fd) {
  struct stat file {};
  return fstat(fd, &file) == 0 ? file.st_ino : 0;
}

ze_result_t get_handle(ze_context_handle_t context, const void* pointer,
                       ze_ipc_mem_handle_t* handle) {
  require(handle != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no place for the handle");
  require(!switches().fail_ipc_get, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "handles are refused");
  const Memory memory = find_memory(pointer);
  require(memory && memory->context == context && memory->type == ZE_MEMORY_TYPE_DEVICE,
          ZE_RESULT_ERROR_INVALID_ARGUMENT, "not memory of a device and of the context");
  require(!memory->opened, ZE_RESULT_ERROR_INVALID_ARGUMENT, "memory of another process");
  // The descriptor stays the driver's, and is closed with the allocation.
  const Handle made{memory->fd, kMark, memory->bytes, inode_of(memory->fd)};
  std::memset(handle, 0, sizeof *handle);
  std::memcpy(handle, &made, sizeof made);
  return ZE_RESULT_SUCCESS;
}

ze_result_t open_handle(ze_context_handle_t context, ze_device_handle_t device,
                        ze_ipc_mem_handle_t given, ze_ipc_memory_flags_t, void** pointer) {
  require(device != nullptr, ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "no device");
  require(pointer != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no place for the pointer");
  require(!switches().fail_ipc_open, ZE_RESULT_ERROR_INVALID_ARGUMENT, "handles are refused");
  Handle handle{};
  std::memcpy(&handle, &given, sizeof handle);
  require(handle.mark == kMark && inode_of(handle.fd) == handle.inode,
          ZE_RESULT_ERROR_INVALID_ARGUMENT, "no handle with its descriptor");
  // The caller's descriptor stays the caller's.
  const int fd = fcntl(handle.fd, F_DUPFD_CLOEXEC, 0);
  require(fd >= 0, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no descriptor is left");
  *pointer = add_memory(
      std::make_shared<Allocation>(context, device, ZE_MEMORY_TYPE_DEVICE, fd, handle.bytes, true));
  return ZE_RESULT_SUCCESS;
}

ze_result_t close_handle(ze_context_handle_t context, const void* pointer) {
  const Memory memory = find_memory(pointer);
  require(memory && memory->base() == pointer && memory->context == context && memory->opened,
          ZE_RESULT_ERROR_INVALID_ARGUMENT, "not the beginning of memory that was opened");
  remove_memory(memory);
  return ZE_RESULT_SUCCESS;
}

}  // namespace

void fill_ipc(ze_mem_dditable_t* table) {
  table->pfnGetIpcHandle = entry<get_handle>("zeMemGetIpcHandle");
  table->pfnOpenIpcHandle = entry<open_handle>("zeMemOpenIpcHandle");
  table->pfnCloseIpcHandle = entry<close_handle>("zeMemCloseIpcHandle");
}

}  // namespace tutti_test::ze
