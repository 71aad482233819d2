// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Arenas: memory for the caller's buffers that peers read where it lies. Every rank has one, behind
// all else in the region's file, which is sparse. An arena costs address space from its first use
// on, and memory as far as it is used. A rank tells where its arena begins in its own process. So
// the address of a buffer alone says whether, and where, the buffer lies in its rank's arena.
#pragma once

#include <atomic>
#include <map>

#include "transports/shm/layout.hpp"
#include "transports/shm/region.hpp"

namespace tutti::shm {

// All arenas as one rank sees them. take() and give_back() by one thread at a time, the rest by
// any.
class Arenas {
 public:
  Arenas(const Region& region, const Layout& layout, int rank);
  Arenas(const Arenas&) = delete;
  Arenas& operator=(const Arenas&) = delete;

  // Takes memory of the own arena, zeroed and present; null if the arena cannot have so much. It is
  // aligned to huge pages from one of them on, and to pages below.
  void* take(uint64_t bytes);
  void give_back(void* memory);

  // Whether an address of the process of `rank` lies in its arena, and `rank` can read all arenas.
  [[nodiscard]] bool holds(int rank, uint64_t address) const;
  // The address here of `bytes` at an address of the process of `rank`. Null if they do not lie in
  // its arena, or if this rank has not taken anything from its own.
  [[nodiscard]] const std::byte* mapped(int rank, uint64_t address, uint64_t bytes) const;

 private:
  [[nodiscard]] bool open();
  [[nodiscard]] bool map_own();
  [[nodiscard]] bool map_all();
  [[nodiscard]] uint64_t first_gap(uint64_t bytes, uint64_t alignment) const;
  [[nodiscard]] ArenaSign& sign(int rank) const;
  [[nodiscard]] uint64_t base_of(int rank) const;  // 0: it has no arena yet

  const Region& region_;
  const Layout& layout_;
  const int rank_;
  Mapping own_;                            // this rank's arena, which it writes
  Mapping whole_;                          // parts of all ranks in rank order, which it reads
  std::atomic<std::byte*> all_ = nullptr;  // address of `whole_`, for other threads
  std::map<uint64_t, uint64_t> taken_;     // allocated bytes, by offset
};

}  // namespace tutti::shm
