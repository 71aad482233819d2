// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/pages.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

namespace tutti {

// More than needed, to cut an aligned piece out of it.
std::byte* map_aligned(uint64_t bytes, int protection) {
  const uint64_t taken = bytes + kHugePage;
  void* const all = mmap(nullptr, taken, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(all);
  const auto address = reinterpret_cast<uint64_t>(all);
  const uint64_t before = round_up(address, kHugePage) - address;
  if (before > 0) munmap(begin, before);
  if (before < kHugePage) munmap(begin + before + bytes, kHugePage - before);
  return begin + before;
}

bool map_in(std::byte* memory, uint64_t bytes) {
#ifdef MADV_POPULATE_WRITE
  return madvise(memory, bytes, MADV_POPULATE_WRITE) == 0;
#else
  static_cast<void>(memory);
  static_cast<void>(bytes);
  errno = EINVAL;
  return false;
#endif
}

bool populate(std::byte* memory, uint64_t bytes) {
  if (map_in(memory, bytes)) return true;
  if (errno != EINVAL) return false;
  std::memset(memory, 0, bytes);
  return true;
}

void make_huge(std::byte* memory, uint64_t bytes) {
#ifndef MADV_COLLAPSE
  constexpr int MADV_COLLAPSE = 25;  // the kernel's number, which older C libraries do not know
#endif
  madvise(memory, bytes, MADV_COLLAPSE);
}

}  // namespace tutti
