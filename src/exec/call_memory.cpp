// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "exec/call_memory.hpp"

#include <algorithm>
#include <iterator>

namespace tutti {
namespace {

// Small calls move through a part of the slot, until there have been many: lest many communicators
// take much memory. A call longer than half of a slot has all of it, and the rest moves through
// that half.
struct ClassRooms {
  uint64_t longest;            // longest extent of the class
  uint64_t first;              // room in each copy of a slot at first
  uint64_t later;              // room after kManyCalls calls of the class
  uint64_t if_oversubscribed;  // room where ranks share cores, after kManyCalls
};
// Within a first-level cache, and within a second-level one.
constexpr uint64_t kRoomOfTiny = 2 << 10;
constexpr uint64_t kRoomOfShort = 512 << 10;
constexpr ClassRooms kClassRooms[] = {
    {.longest = 256, .first = kRoomOfTiny, .later = kRoomOfTiny, .if_oversubscribed = 32 << 10},
    {.longest = 8 << 10,
     .first = 48 << 10,
     .later = kRoomOfShort,
     .if_oversubscribed = kRoomOfShort}};
constexpr size_t kHalf = std::size(kClassRooms);
constexpr size_t kWhole = kHalf + 1;
constexpr uint32_t kManyCalls = 1000;

}  // namespace

SlotAllocator::SlotAllocator(LaneMemory* memory, bool oversubscribed)
    : memory_(memory),
      oversubscribed_(oversubscribed),
      slot_bytes_(memory == nullptr ? 0 : memory->sizes().slots.slot_bytes) {
  static_assert(kWhole < kClasses);
}

SlotAllocator::SizeClass SlotAllocator::size_class_of(uint64_t extent) const {
  const uint64_t half = slot_bytes_ / 2;
  if (extent > half) return {kWhole, slot_bytes_};
  size_t index = 0;
  while (index < kHalf && extent > kClassRooms[index].longest) ++index;
  if (index == kHalf) return {kHalf, half};
  const ClassRooms& rooms = kClassRooms[index];
  const uint64_t room = placed_[index] < kManyCalls ? rooms.first
                        : oversubscribed_           ? rooms.if_oversubscribed
                                                    : rooms.later;
  return {index, std::min(room, half)};
}

Status SlotAllocator::grow(const SizeClass& size_class, bool writes, uint32_t call) {
  if (size_class.room > used_) {
    if (Status mapped = memory_->map_slots(); !mapped.ok()) return mapped;
    used_ = size_class.room;
    new_from_ = call;
  }
  if (!writes || size_class.room <= reserved_) return {};
  reserved_ = size_class.room;
  return memory_->reserve_slots(size_class.room);
}

uint64_t SlotAllocator::place(uint32_t call, uint64_t extent, const SizeClass& size_class) {
  const uint64_t at = next_place(extent, size_class);
  const bool alike = extent == last_extent_ && size_class.room == last_room_;
  if (!alike || call != last_call_ + 1) alike_from_ = call;
  last_extent_ = extent;
  last_room_ = size_class.room;
  last_call_ = call;
  // The other copy follows at the same place, with the next call.
  next_[size_class.index] = at + ((call & 1) != 0 ? extent : 0);
  if (placed_[size_class.index] < kManyCalls) ++placed_[size_class.index];
  return at;
}

uint32_t SlotAllocator::claim_place(const CallLog& log, uint64_t extent,
                                    const SizeClass& size_class, uint64_t at) {
  const uint32_t call = log.call();
  uses_[call % kCallLines] = {call, at, at + extent};
  // Calls in a row that move alike, through as much, come back to a place after all others: no
  // later than the call lines do.
  const bool many_fit = extent * (log.most_ahead() / 2 + 1) <= size_class.room;
  const bool long_alike = call - alike_from_ > log.most_ahead();
  if (many_fit && long_alike) return call - log.most_ahead();
  return last_use(log, at, at + extent) + 1;
}

// The last call that wrote there and that a peer may not have finished; else one that is long over.
uint32_t SlotAllocator::last_use(const CallLog& log, uint64_t begin, uint64_t end) const {
  const uint32_t oldest = later(log.entered_by_all(), log.call() - log.most_ahead());
  // Every other call used the same copy.
  for (uint32_t call = log.call() - 2; reached(call, oldest); call -= 2) {
    const Use& use = uses_[call % kCallLines];
    if (use.call == call && use.begin < end && begin < use.end) return call;
  }
  return oldest - 1;
}

Status SlotAllocator::grow_ping_pong(uint64_t extent) {
  if (Status reserved = memory_->reserve_ping_pong(extent); !reserved.ok()) return reserved;
  ping_pong_reserved_ = extent;
  return {};
}

// ---- addresses ---------------------------------------------------------------------------------

Addresses::Addresses(int rank, LaneMemory* memory)
    : rank_(rank),
      memory_(memory),
      shared_(memory == nullptr ? std::span<const LaneMemory::Rank>() : memory->ranks()),
      bases_(kPrivateSpaces + kPeerSpaces * shared_.size(), nullptr) {
  // A transport that leaves nothing out has windows from the start.
  for (int peer = 0; peer < ranks(); ++peer) {
    base(Space::kWindow, peer) = shared_[static_cast<size_t>(peer)].window;
  }
}

Status Addresses::map_windows() {
  if (base(Space::kWindow, rank_) != nullptr) return {};
  if (Status mapped = memory_->map_windows(); !mapped.ok()) return mapped;
  for (int peer = 0; peer < ranks(); ++peer) {
    base(Space::kWindow, peer) = shared_[static_cast<size_t>(peer)].window;
  }
  return {};
}

std::span<std::byte*, 2> Addresses::buffers_of(int rank) {
  std::byte** first = rank == rank_ ? bases_.data() : &base(Space::kPeerSend, rank);
  return std::span<std::byte*, 2>(first, 2);
}

bool Addresses::sees_all_buffers() {
  for (int rank = 0; rank < ranks(); ++rank) {
    for (const std::byte* buffer : buffers_of(rank)) {
      if (!memory_->is_shared(rank, reinterpret_cast<uint64_t>(buffer))) return false;
    }
  }
  return true;
}

void Addresses::take_mapped_buffers() {
  for (int peer = 0; peer < ranks(); ++peer) {
    if (peer == rank_) continue;
    for (std::byte*& buffer : buffers_of(peer)) {
      const auto theirs = reinterpret_cast<uint64_t>(buffer);
      buffer = const_cast<std::byte*>(memory_->mapped(peer, theirs, 0));
    }
  }
}

}  // namespace tutti
