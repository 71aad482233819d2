// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Memory opened by other processes. Drivers for Linux keep a file descriptor in the first bytes of
// a handle: it goes to the other process besides, which puts its own number there.
#include <fcntl.h>

#include <cstring>

#include "devices/level_zero/memory.hpp"

namespace tutti::devices::level_zero {

static_assert(sizeof(ze_ipc_mem_handle_t) == sizeof(MemoryHandle::bytes));

Result<MemoryHandle> Memory::export_handle(void* base) {
  ze_ipc_mem_handle_t native{};
  TUTTI_LEVEL_ZERO_CALL(ze_, zeMemGetIpcHandle, context_, base, &native);
  MemoryHandle handle;
  std::memcpy(handle.bytes.data(), &native, sizeof native);
  int fd = -1;
  std::memcpy(&fd, &native, sizeof fd);
  // The driver closes its own with the allocation.
  if (fd >= 0) handle.fd = Fd(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  return handle;
}

Result<void*> Memory::open(const MemoryHandle& handle) {
  ze_ipc_mem_handle_t native{};
  std::memcpy(&native, handle.bytes.data(), sizeof native);
  if (handle.fd.open()) {
    const int fd = handle.fd.get();
    std::memcpy(&native, &fd, sizeof fd);
  }
  void* opened = nullptr;
  TUTTI_LEVEL_ZERO_CALL(ze_, zeMemOpenIpcHandle, context_, device_.id, native, 0, &opened);
  Result<Place> place = ask(opened);
  if (!place.ok() || place->on_host()) {
    ze_.zeMemCloseIpcHandle(context_, opened);
    if (!place.ok()) return place.status();
    return Status(Code::kSystem, "the driver does not know the memory that it has opened");
  }
  // By which close() knows it; drivers may put it into a larger allocation.
  place->bytes -= static_cast<size_t>(static_cast<char*>(opened) - static_cast<char*>(place->base));
  place->base = opened;
  remember(*place, true, true);
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
