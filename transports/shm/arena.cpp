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

ArenaSign& Arenas::sign(int rank) const { return *region_.at<ArenaSign>(layout_.arena_sign(rank)); }

// ---- the own arena -----------------------------------------------------------------------------

// The sign goes up once this rank can read all others: who looks at the signs of all ranks knows
// that all of them can.
bool Arenas::open() {
  if (!own_.is_open() && !map_own()) return false;
  if (!whole_.is_open() && !map_all()) return false;
  sign(rank_).base.store(reinterpret_cast<uint64_t>(own_.base()), std::memory_order_release);
  return true;
}

// Maps all of it, so that what is taken never moves. File and address are aligned alike, without
// which no huge page enters a page table.
bool Arenas::map_own() {
  auto own = region_.map_huge(layout_.arena(rank_));
  if (!own.ok()) return false;
  own_ = *std::move(own);
  madvise(own_.base(), own_.bytes(), MADV_HUGEPAGE);  // a hint
  return true;
}

bool Arenas::map_all() {
  auto whole = region_.map_huge({layout_.arena(0).offset, bytes_of_all(layout_)});
  if (!whole.ok() || mprotect(whole->base(), whole->bytes(), PROT_READ) != 0) return false;
  whole_ = *std::move(whole);
  madvise(whole_.base(), whole_.bytes(), MADV_HUGEPAGE);
  madvise(whole_.base(), whole_.bytes(), MADV_DONTDUMP);
  all_.store(whole_.base(), std::memory_order_release);
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
  const Extent place{layout_.arena(rank_).offset + offset, length};
  std::byte* const memory = own_.at<std::byte>(place);
  if (!own_.reserve(place).ok() || !populate(memory, length)) {
    own_.release(place);
    return nullptr;
  }
  if (alignment == kHugePage) make_huge(memory, length);
  taken_.emplace(offset, length);
  return memory;
}

void Arenas::give_back(void* memory) {
  const auto offset = static_cast<uint64_t>(static_cast<std::byte*>(memory) - own_.base());
  const auto found = taken_.find(offset);
  own_.release({layout_.arena(rank_).offset + offset, found->second});
  taken_.erase(found);
}

// ---- all arenas --------------------------------------------------------------------------------

uint64_t Arenas::base_of(int rank) const { return sign(rank).base.load(std::memory_order_acquire); }

bool Arenas::holds(int rank, uint64_t address) const {
  const uint64_t base = base_of(rank);
  return base != 0 && address >= base && address - base < kArenaBytes;
}

const std::byte* Arenas::mapped(int rank, uint64_t address, uint64_t bytes) const {
  const std::byte* const all = all_.load(std::memory_order_acquire);
  if (all == nullptr || !holds(rank, address)) return nullptr;
  const uint64_t offset = address - base_of(rank);
  if (bytes > kArenaBytes - offset) return nullptr;
  return all + static_cast<uint64_t>(rank) * kArenaBytes + offset;
}

}  // namespace tutti::shm
