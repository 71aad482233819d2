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

constexpr int kProtection = PROT_READ | PROT_WRITE;
constexpr int kFlags = MAP_SHARED | MAP_NORESERVE;

// Asking for more than the limit on the size of files would kill the process.
uint64_t longest_file() {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

Status size_file(int file, uint64_t bytes, uint64_t whole) {
  const uint64_t longest = longest_file();
  if (longest >= whole && ftruncate(file, static_cast<off_t>(whole)) == 0) return {};
  if (longest < bytes) {
    return Status::format(Code::kSystem,
                          "shared memory of {} bytes is needed, but this process may make files "
                          "of {} bytes at most: raise the limit (ulimit -f)",
                          bytes, longest);
  }
  if (ftruncate(file, static_cast<off_t>(bytes)) == 0) return {};
  return Status::system(errno, fmt::format("sizing shared memory to {} bytes", bytes));
}

Status cannot_map(uint64_t bytes) {
  return Status::system(errno, fmt::format("mapping {} bytes of shared memory", bytes));
}

// The file behind a shared mapping of its beginning, mapped once more, up to `end`: at `place`, or
// anywhere.
void* map_again(void* beginning, uint64_t end, void* place) {
  if (place == nullptr) return mremap(beginning, 0, end, MREMAP_MAYMOVE);
  return mremap(beginning, 0, end, MREMAP_MAYMOVE | MREMAP_FIXED, place);
}

// Whether the system can do to a mapping what is otherwise done to its file. It cannot before Linux
// 5.14, in some sandboxes, or under valgrind.
bool can_do_without_file(std::byte* beginning) {
  if (!map_in(beginning, kPageBytes)) return false;
  void* const again = map_again(beginning, kPageBytes, nullptr);
  if (again == MAP_FAILED) return false;
  munmap(again, kPageBytes);
  return true;
}

int allocate(int file, int mode, Extent span) {
  int result;
  do {
    result = fallocate(file, mode | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(span.offset),
                       static_cast<off_t>(span.bytes));
  } while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

}  // namespace

// ---- an extent ----------------------------------------------------------------------------------

Mapping::Mapping(Mapping&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)), extent_(other.extent_), file_(other.file_) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(extent_, other.extent_);
  std::swap(file_, other.file_);
  return *this;
}

Mapping::~Mapping() {
  if (base_ != nullptr) munmap(base_, extent_.bytes);
}

Status Mapping::reserve(Extent span) const {
  if (span.bytes == 0) return {};
  int error = 0;
  if (file_ >= 0) {
    error = allocate(file_, 0, span);
    // A kernel without fallocate for such files (some sandboxes) allocates at the first touch.
    if (error == EOPNOTSUPP || error == ENOSYS) error = 0;
  } else if (!tutti::map_in(at<std::byte>(span), span.bytes)) {
    error = errno;
  }
  if (error == 0) return {};
  if (error == ENOSPC || error == EFAULT) error = ENOMEM;
  return Status::system(error, fmt::format("getting {} bytes of shared memory", span.bytes));
}

void Mapping::map_in(Extent span) const {
  if (file_ >= 0) static_cast<void>(tutti::map_in(at<std::byte>(span), span.bytes));
}

void Mapping::release(Extent span) const {
  if (file_ >= 0) {
    allocate(file_, FALLOC_FL_PUNCH_HOLE, span);
  } else {
    madvise(at<std::byte>(span), span.bytes, MADV_REMOVE);
  }
}

// ---- the region --------------------------------------------------------------------------------

Result<Fd> anonymous_file() {
  Fd file(memfd_create("tutti", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.open()) return file;
  const int error = errno;
  if (error != ENOSYS && error != EPERM && error != EACCES) {
    return Status::system(error, "making an anonymous file (memfd_create)");
  }
  // A filter of system calls. Files without a name, too, but limited by where they lie.
  for (const char* folder : {"/dev/shm", "/tmp"}) {
    file.reset(open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600));
    if (file.open()) return file;
  }
  return Status::system(error, "making an anonymous file (memfd_create, or in /dev/shm or /tmp)");
}

Result<Region> Region::create(const Layout& layout) {
  TUTTI_ASSIGN_OR_RETURN(auto file, anonymous_file());
  TUTTI_RETURN_IF_ERROR(size_file(file.get(), layout.total_bytes(), layout.total_with_arenas()));
  // A peer that could shrink it would turn our next access into a SIGBUS. Only memfds have seals.
  fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  return map(std::move(file), layout);
}

Result<Region> Region::map(Fd file, const Layout& layout) {
  struct stat info {};
  if (fstat(file.get(), &info) != 0) return Status::system(errno, "looking at shared memory");
  const auto size = static_cast<uint64_t>(info.st_size);
  const bool whole = size == layout.total_with_arenas();
  if (size != layout.total_bytes() && !whole) {
    return Status::format(Code::kInternal, "shared memory has {} bytes, {} were expected",
                          info.st_size, layout.total_bytes());
  }
  const uint64_t bytes = layout.near_bytes();
  void* base = mmap(nullptr, bytes, kProtection, kFlags, file.get(), 0);
  if (base == MAP_FAILED) return cannot_map(bytes);
  Mapping near(static_cast<std::byte*>(base), {0, bytes}, file.get());
  return Region(std::move(file), std::move(near), whole);
}

Result<Mapping> Region::map(Extent extent) const {
  std::byte* base = nullptr;
  if (file_.open()) {
    void* const memory = mmap(nullptr, extent.bytes, kProtection, kFlags, file_.get(),
                              static_cast<off_t>(extent.offset));
    if (memory == MAP_FAILED) return cannot_map(extent.bytes);
    base = static_cast<std::byte*>(memory);
  } else {
    void* const memory = map_again(near_.base(), extent.end(), nullptr);
    if (memory == MAP_FAILED) return cannot_map(extent.bytes);
    munmap(memory, extent.offset);
    base = static_cast<std::byte*>(memory) + extent.offset;
  }
  return Mapping(base, extent, file_.get());
}

Result<Mapping> Region::map_huge(Extent extent) const {
  const uint64_t before = file_.open() ? 0 : extent.offset;
  std::byte* const room = map_aligned(before + extent.bytes, PROT_NONE);
  if (room == nullptr) return cannot_map(extent.bytes);
  void* const memory = file_.open() ? mmap(room, extent.bytes, kProtection, kFlags | MAP_FIXED,
                                           file_.get(), static_cast<off_t>(extent.offset))
                                    : map_again(near_.base(), extent.end(), room);
  if (memory == MAP_FAILED) {
    const Status status = cannot_map(extent.bytes);
    munmap(room, before + extent.bytes);
    return status;
  }
  if (before > 0) munmap(room, before);
  return Mapping(room + before, extent, file_.get());
}

void Region::drop_file() {
  if (!can_do_without_file(near_.base())) return;
  file_.reset();
  near_.forget_file();
}

}  // namespace tutti::shm
