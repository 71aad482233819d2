// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Where calls find their slots.
#include <algorithm>
#include <iterator>

#include "core/prefetch.hpp"
#include "exec/lane.hpp"

namespace tutti {
namespace {

// Where in its two copies the slot of this call lies: not always at the beginning. A core writes
// lines that it has in its second-level cache about 1.5 times as fast as those that a peer has just
// read from its first-level cache (measured with messages of 16 and 32 KiB), and lines that are in
// the third level alone faster still, so calls walk through the copies: small ones through a part
// of them until there have been many, lest many communicators take much memory. Tiny messages stay:
// for them the first-level cache is worth more, but not where ranks share cores and run ahead. What
// is longer than half of a slot has all of it, and the rest walks through that half.
struct SlotWalk {
  uint64_t longest;        // extent
  uint64_t room;           // of each copy
  uint64_t room_later;     // after kManyCalls of them
  uint64_t room_of_crowd;  // the same where ranks share cores
};
constexpr SlotWalk kWalks[] = {{1 << 10, 2 << 10, 2 << 10, 32 << 10},
                               {8 << 10, 48 << 10, 512 << 10, 512 << 10}};
constexpr size_t kHalf = std::size(kWalks);
constexpr size_t kWhole = kHalf + 1;
static_assert(kWhole < kSlotWalks);
constexpr uint32_t kManyCalls = 1000;

constexpr uint64_t kMostTaken = 16 << 10;

}  // namespace

void Lane::place_slots() {
  if (part_->trades_slots) return place_traded_slots();
  const uint64_t room = slot_room();
  if (room > slots_used_) {
    slots_used_ = room;
    slots_new_from_ = call_;
  }
  if (part_->slot_written > 0 && room > slots_reserved_) {
    status_ = window_->reserve_slots(room);
    slots_reserved_ = room;
  }
  const uint64_t at = next_slot();
  for (int peer = 0; peer < ranks_; ++peer) {
    bases_[Ref::of(Space::kSlot, 0, peer).base] = shared(peer).slots[call_ & 1] + at;
  }
  if (part_->slot_written > 0) {
    const uint64_t end = at + part_->slot_extent;
    gate_ = later(gate_, last_use_of_slot(at, end) + 1);
    slot_uses_[call_ % kCallLines] = {call_, at, end};
  }
  // The other copy follows at the same place, with the next call.
  const bool second = (call_ & 1) != 0;
  const size_t walk = slot_walk();
  next_slots_[walk] = at + (second ? part_->slot_extent : 0);
  walked_[walk] = std::min(walked_[walk] + 1, kManyCalls);
}

// A line that a peer writes after this rank has read it must first be fetched back from this rank's
// caches, and one that this rank writes itself need not. So the two ranks of a communicator take
// the slot that they have read for the next call that trades (4 KiB: 0.3 us instead of 0.5, between
// cores that are far apart 0.9 instead of 1.1). No gate: what the peer wrote there, this rank has
// read; and when it had seen the peer in that call, the peer had ended the one before.
void Lane::place_traded_slots() {
  const uint64_t extent = part_->slot_extent;
  if (extent > traded_reserved_) {
    status_ = window_->reserve_traded(extent);
    traded_reserved_ = extent;
  }
  traded_ = !traded_;
  for (int rank = 0; rank < 2; ++rank) {
    bases_[Ref::of(Space::kSlot, 0, rank).base] = shared(traded_ ? 1 - rank : rank).traded;
  }
}

// The last call that wrote there and that a peer may not have finished; else one that is long over.
uint32_t Lane::last_use_of_slot(uint64_t begin, uint64_t end) const {
  const uint32_t oldest = later(synced_, call_ - most_ahead());
  // Every other call used the same copy.
  for (uint32_t call = call_ - 2; reached(call, oldest); call -= 2) {
    const SlotUse& use = slot_uses_[call % kCallLines];
    if (use.call == call && use.begin < end && begin < use.end) return call;
  }
  return oldest - 1;
}

size_t Lane::slot_walk() const {
  const uint64_t extent = part_->slot_extent;
  if (extent > slot_bytes_ / 2) return kWhole;
  size_t walk = 0;
  while (walk < kHalf && extent > kWalks[walk].longest) ++walk;
  return walk;
}

uint64_t Lane::slot_room() const {
  const size_t index = slot_walk();
  if (index == kWhole) return slot_bytes_;
  if (index == kHalf) return slot_bytes_ / 2;
  const SlotWalk& walk = kWalks[index];
  if (walked_[index] < kManyCalls) return std::min(walk.room, slot_bytes_ / 2);
  return std::min(line_mask_ + 1 == kCallLines ? walk.room_of_crowd : walk.room_later,
                  slot_bytes_ / 2);
}

uint64_t Lane::next_slot() const {
  const uint64_t next = next_slots_[slot_walk()];
  return next + part_->slot_extent <= slot_room() ? next : 0;
}

// Takes the lines that the next call will write, if it is like this one, from the peers that have
// read them: its entry, and its slot. Done while this call waits, it costs nothing, and shortens an
// allreduce of 8 bytes by a sixth, of 4 KiB by a fifth. Done when the slot is written, it makes
// that slower.
void Lane::take_next_lines() {
  prefetch_to_write(&line_of(rank_, call_ + 1));
  const uint64_t written = part_->slot_written;
  if (part_->trades_slots || written == 0 || written > kMostTaken || past_caches_) return;
  const std::byte* slot = shared(rank_).slots[(call_ + 1) & 1] + next_slot();
  for (uint64_t at = 0; at < written; at += kCacheLine) prefetch_to_write(slot + at);
}

}  // namespace tutti
