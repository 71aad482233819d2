// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "inspect/source.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace tutti::inspect {

bool FileSource::read(uint64_t offset, std::span<std::byte> to) const {
  while (!to.empty()) {
    const ssize_t count = pread(file_.get(), to.data(), to.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    offset += static_cast<uint64_t>(count);
    to = to.subspan(static_cast<size_t>(count));
  }
  return true;
}

bool ProcessSource::read(uint64_t offset, std::span<std::byte> to) const {
  for (const MappedRange& range : ranges_) {
    if (offset < range.offset || offset - range.offset > range.bytes) continue;
    const uint64_t before = offset - range.offset;
    if (to.size() > range.bytes - before) continue;
    const iovec here{to.data(), to.size()};
    const iovec there{reinterpret_cast<void*>(range.address + before), to.size()};
    return process_vm_readv(pid_, &here, 1, &there, 1, 0) == static_cast<ssize_t>(to.size());
  }
  return false;
}

}  // namespace tutti::inspect
