// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/shm/region.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>

#include "core/pages.hpp"

namespace tutti::shm {

namespace {

// Asking for more than the limit on the size of files would kill the process.
bool may_have_file_of(uint64_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= bytes;
}

}  // namespace

Result<Region> Region::create(uint64_t bytes, uint64_t whole) {
  Fd file(memfd_create("tutti", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.open()) return Status::system(errno, "making an anonymous file (memfd_create)");
  const bool all = may_have_file_of(whole) && ftruncate(file.get(), static_cast<off_t>(whole)) == 0;
  if (!all && ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) {
    return Status::system(errno, fmt::format("sizing shared memory to {} bytes", bytes));
  }
  // A peer that could shrink it would turn our next access into a SIGBUS.
  if (fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return Status::system(errno, "sealing shared memory");
  }
  return map(std::move(file), bytes, whole);
}

Result<Region> Region::map(Fd file, uint64_t bytes, uint64_t whole) {
  struct stat info {};
  if (fstat(file.get(), &info) != 0) return Status::system(errno, "looking at shared memory");
  const auto size = static_cast<uint64_t>(info.st_size);
  if (size != bytes && size != whole) {
    return Status::format(Code::kInternal, "shared memory has {} bytes, {} were expected",
                          info.st_size, bytes);
  }
  void* base =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file.get(), 0);
  if (base == MAP_FAILED) {
    return Status::system(errno, fmt::format("mapping {} bytes of shared memory", bytes));
  }
  return Region(std::move(file), static_cast<std::byte*>(base), bytes, size == whole);
}

Region::Region(Region&& other) noexcept
    : file_(std::move(other.file_)),
      base_(std::exchange(other.base_, nullptr)),
      bytes_(other.bytes_),
      whole_(other.whole_) {}

Region::~Region() {
  if (base_ != nullptr) munmap(base_, bytes_);
}

Status Region::reserve(Span part) const {
  if (part.bytes == 0) return {};
  int result;
  do {
    result = fallocate(file_.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(part.offset),
                       static_cast<off_t>(part.bytes));
  } while (result != 0 && errno == EINTR);
  // A kernel without fallocate for such files (some sandboxes) allocates at the first touch.
  if (result == 0 || errno == EOPNOTSUPP || errno == ENOSYS) return {};
  const int error = errno == ENOSPC ? ENOMEM : errno;
  return Status::system(error, fmt::format("getting {} bytes of shared memory", part.bytes));
}

void Region::map_in(Span part) const {
  static_cast<void>(tutti::map_in(base_ + part.offset, part.bytes));
}

void Region::release(Span part) const {
  fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
            static_cast<off_t>(part.offset), static_cast<off_t>(part.bytes));
}

}  // namespace tutti::shm
