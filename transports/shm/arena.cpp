// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/shm/arena.hpp"

#include <sys/mman.h>

#include <algorithm>

#include "core/pages.hpp"

namespace tutti::shm {
namespace {

uint64_t bytes_of_all(const Layout& layout) {
  return static_cast<uint64_t>(layout.ranks()) * kArenaBytes;
}

}  // namespace

Arenas::Arenas(const Region& region, const Layout& layout, int rank)
    : region_(region), layout_(layout), rank_(rank) {}

Arenas::~Arenas() {
  if (own_ != nullptr) munmap(own_, kArenaBytes);
  std::byte* const all = all_.load(std::memory_order_relaxed);
  if (all != nullptr) munmap(all, bytes_of_all(layout_));
}

ArenaSign& Arenas::sign(int rank) const { return *region_.at<ArenaSign>(layout_.arena_sign(rank)); }

// ---- the own arena -----------------------------------------------------------------------------

// The sign goes up once this rank can read all others: who looks at the signs of all ranks knows
// that all of them can.
bool Arenas::open() {
  if (own_ == nullptr && !map_own()) return false;
  if (all_.load(std::memory_order_relaxed) == nullptr && !map_all()) return false;
  sign(rank_).base.store(reinterpret_cast<uint64_t>(own_), std::memory_order_release);
  return true;
}

// Of the file from the arena of `rank` on; aligned, for huge pages enter a page table only if they
// are so in both.
std::byte* Arenas::map_from(int rank, uint64_t bytes, int protection) const {
  std::byte* const room = map_aligned(bytes, PROT_NONE);
  if (room == nullptr) return nullptr;
  const auto offset = static_cast<off_t>(layout_.arena(rank).offset);
  if (mmap(room, bytes, protection, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, region_.file(),
           offset) == MAP_FAILED) {
    munmap(room, bytes);
    return nullptr;
  }
  madvise(room, bytes, MADV_HUGEPAGE);  // a wish
  return room;
}

// All of it: what is taken never moves.
bool Arenas::map_own() {
  own_ = map_from(rank_, kArenaBytes, PROT_READ | PROT_WRITE);
  return own_ != nullptr;
}

bool Arenas::map_all() {
  const uint64_t bytes = bytes_of_all(layout_);
  std::byte* const all = map_from(0, bytes, PROT_READ);
  if (all == nullptr) return false;
  madvise(all, bytes, MADV_DONTDUMP);
  all_.store(all, std::memory_order_release);
  return true;
}

uint64_t Arenas::first_gap(uint64_t bytes, uint64_t alignment) const {
  uint64_t begin = 0;
  for (const auto& [offset, length] : taken_) {
    if (begin + bytes <= offset) break;
    begin = std::max(begin, round_up(offset + length, alignment));
  }
  return begin;
}

void* Arenas::take(uint64_t bytes) {
  if (bytes == 0 || bytes > kArenaBytes || !region_.is_whole() || !open()) return nullptr;
  const uint64_t alignment = bytes < kHugePage ? kPageBytes : kHugePage;
  const uint64_t length = round_up(bytes, alignment);
  const uint64_t offset = first_gap(length, alignment);
  if (offset > kArenaBytes - length) return nullptr;
  const Span place{layout_.arena(rank_).offset + offset, length};
  if (!region_.reserve(place).ok() || !populate(own_ + offset, length)) {
    region_.release(place);
    return nullptr;
  }
  if (alignment == kHugePage) make_huge(own_ + offset, length);
  taken_.emplace(offset, length);
  return own_ + offset;
}

void Arenas::give_back(void* memory) {
  const auto offset = static_cast<uint64_t>(static_cast<std::byte*>(memory) - own_);
  const auto found = taken_.find(offset);
  region_.release({layout_.arena(rank_).offset + offset, found->second});
  taken_.erase(found);
}

// ---- all arenas --------------------------------------------------------------------------------

uint64_t Arenas::base_of(int rank) const { return sign(rank).base.load(std::memory_order_acquire); }

bool Arenas::holds(int rank, uint64_t address) const {
  const uint64_t base = base_of(rank);
  return base != 0 && address >= base && address - base < kArenaBytes;
}

const std::byte* Arenas::view(int rank, uint64_t address, uint64_t bytes) const {
  const std::byte* const all = all_.load(std::memory_order_acquire);
  if (all == nullptr || !holds(rank, address)) return nullptr;
  const uint64_t offset = address - base_of(rank);
  if (bytes > kArenaBytes - offset) return nullptr;
  return all + static_cast<uint64_t>(rank) * kArenaBytes + offset;
}

}  // namespace tutti::shm
