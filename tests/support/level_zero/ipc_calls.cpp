// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Handles by which other processes open memory, given for the beginning of an allocation. Its first
// bytes are a file descriptor of this process: whoever sends it to
// another process has to send that, too, and to put the number there in its place. With
// ZE_TEST_OPAQUE_IPC they are something else, which has to stay as it is.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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
  int card;        // of the device
  int tile;
  // Of one that is opaque: instead of `fd`, which is then no descriptor of memory.
  int process;
  int fd_there;
};
static_assert(sizeof(Handle) <= sizeof(ze_ipc_mem_handle_t));
constexpr uint32_t kMark = 0x747a6531;

uint64_t inode_of(int fd) {
  struct stat file {};
  return fstat(fd, &file) == 0 ? file.st_ino : 0;
}

// A descriptor that is open and has nothing to do with memory.
int unrelated_fd() {
  static const int fd = [] {
    int ends[2] = {-1, -1};
    return pipe2(ends, O_CLOEXEC) == 0 ? ends[0] : -1;
  }();
  return fd;
}

int fd_of_process(int process, int number) {
  const auto pidfd = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  const auto fd = static_cast<int>(syscall(SYS_pidfd_getfd, pidfd, number, 0));
  if (pidfd >= 0) close(pidfd);
  return fd;
}

// A new descriptor of the file that the handle names; the caller's stays the caller's.
int take_fd(const Handle& handle) {
  const bool opaque = handle.process != 0;
  const int fd = opaque ? fd_of_process(handle.process, handle.fd_there)
                        : fcntl(handle.fd, F_DUPFD_CLOEXEC, 0);
  require(fd >= 0, ZE_RESULT_ERROR_INVALID_ARGUMENT, "no handle with its descriptor");
  const bool right = handle.mark == kMark && inode_of(fd) == handle.inode;
  if (right) return fd;
  close(fd);
  throw Refusal{ZE_RESULT_ERROR_INVALID_ARGUMENT, "no handle with its descriptor"};
}

ze_result_t get_handle(ze_context_handle_t context, const void* pointer,
                       ze_ipc_mem_handle_t* handle) {
  require(handle != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no place for the handle");
  require(!switches().fail_ipc_get, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "handles are refused");
  const Memory memory = find_memory(pointer);
  require(memory && memory->context == context && memory->type == ZE_MEMORY_TYPE_DEVICE &&
              memory->base() == pointer,
          ZE_RESULT_ERROR_INVALID_ARGUMENT,
          "not the beginning of memory of a device and of the context");
  require(!memory->opened, ZE_RESULT_ERROR_INVALID_ARGUMENT, "memory of another process");
  // The descriptor stays the driver's, and is closed with the allocation.
  Handle made{memory->fd,
              kMark,
              memory->bytes,
              inode_of(memory->fd),
              memory->device->card,
              memory->device->tile,
              0,
              0};
  if (switches().opaque_ipc) {
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);  // so that others may take its descriptors
    made.fd = unrelated_fd();
    made.process = getpid();
    made.fd_there = memory->fd;
  }
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
  const int fd = take_fd(handle);
  if (!reaches(*device, *find_device(handle.card, handle.tile))) {
    close(fd);
    throw Refusal{ZE_RESULT_ERROR_INVALID_ARGUMENT, "the device does not reach that memory"};
  }
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
