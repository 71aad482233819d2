// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Memory opened by other processes. Drivers for Linux keep a file descriptor in the first bytes of
// a handle. It goes to the other process besides, which puts its own number there. Nothing says
// that a handle has one: bytes that cannot be the descriptor of that memory are left as they are.
#include <fcntl.h>
#include <sys/stat.h>

#include <cstring>

#include "devices/level_zero/memory.hpp"

namespace tutti::devices::level_zero {
namespace {

static_assert(sizeof(ze_ipc_mem_handle_t) == sizeof(MemoryHandle::bytes));

// Old kernels tell no size of memory of devices.
bool may_be_memory(int fd, uint64_t bytes) {
  struct stat file {};
  if (fd < 0 || fstat(fd, &file) != 0) return false;
  const bool other = S_ISCHR(file.st_mode) || S_ISFIFO(file.st_mode) || S_ISSOCK(file.st_mode) ||
                     S_ISDIR(file.st_mode);
  return !other && (file.st_size == 0 || static_cast<uint64_t>(file.st_size) >= bytes);
}

}  // namespace

Result<MemoryHandle> Memory::export_handle(void* base) {
  TUTTI_ASSIGN_OR_RETURN(const MemoryPlace place, remembered(base));
  ze_ipc_mem_handle_t native{};
  TUTTI_LEVEL_ZERO_CALL(ze_, zeMemGetIpcHandle, context_, base, &native);
  MemoryHandle handle;
  handle.length = place.bytes;
  std::memcpy(handle.bytes.data(), &native, sizeof native);
  int fd = -1;
  std::memcpy(&fd, &native, sizeof fd);
  // The driver closes its own with the allocation.
  if (may_be_memory(fd, place.bytes)) handle.fd = Fd(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  return handle;
}

// The driver is not asked what it has opened: it need not say more than where that is.
Result<void*> Memory::open(const MemoryHandle& handle) {
  ze_ipc_mem_handle_t native{};
  std::memcpy(&native, handle.bytes.data(), sizeof native);
  if (handle.fd.open()) {
    const int fd = handle.fd.get();
    std::memcpy(&native, &fd, sizeof fd);
  }
  void* opened = nullptr;
  TUTTI_LEVEL_ZERO_CALL(ze_, zeMemOpenIpcHandle, context_, device_.id, native, 0, &opened);
  remember_own(MemoryKind::kDevice, opened, handle.length, true);
  return opened;
}

Status Memory::close(void* opened) {
  if (!take(opened, true)) {
    return Status::format(Code::kInvalidArgument, "{} is no memory that it has opened", opened);
  }
  TUTTI_LEVEL_ZERO_CALL(ze_, zeMemCloseIpcHandle, context_, opened);
  return {};
}

}  // namespace tutti::devices::level_zero
