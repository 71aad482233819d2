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
// for them the first-level cache is worth more, but not where ranks share cores and run ahead. (Up
// to 256 bytes: with 1 KiB, broadcasts and the like of 384 to 512 bytes took 1.2 to 1.3 times as
// long on near cores, of 1 KiB 1.5 times on far ones.) What is longer than half of a slot has all
// of it, and the rest walks through that half.
struct WalkRooms {
  uint64_t longest;   // extent
  uint64_t first;     // of each copy
  uint64_t later;     // after kManyCalls of them
  uint64_t of_crowd;  // the same where ranks share cores
};
constexpr WalkRooms kWalks[] = {{256, 2 << 10, 2 << 10, 32 << 10},
                                {8 << 10, 48 << 10, 512 << 10, 512 << 10}};
constexpr size_t kHalf = std::size(kWalks);
constexpr size_t kWhole = kHalf + 1;
static_assert(kWhole < kSlotWalks);
constexpr uint32_t kManyCalls = 1000;

constexpr uint64_t kMostTaken = 16 << 10;
constexpr uint64_t kMostFetched = 256;

}  // namespace

void Lane::place_slots() {
  if (part_->trades_slots) return place_traded_slots();
  const uint64_t extent = part_->slot_extent;
  const SlotWalk walk = slot_walk();
  if (walk.room > slots_used_) [[unlikely]] {
    if (Status mapped = window_->map_slots(); !mapped.ok()) {
      status_ = std::move(mapped);
      return;
    }
    slots_used_ = walk.room;
    slots_new_from_ = call_;
  }
  const uint64_t at = next_slot(walk);
  const size_t copy = call_ & 1;
  for (int peer = 0; peer < ranks_; ++peer) {
    bases_[Ref::of(Space::kSlot, 0, peer).base] = shared(peer).slots[copy] + at;
  }
  const bool alike = extent == last_extent_ && walk.room == last_room_;
  if (!alike || call_ != last_slot_call_ + 1) walks_alike_from_ = call_;
  last_extent_ = extent;
  last_room_ = walk.room;
  last_slot_call_ = call_;
  if (part_->traits.slot_written > 0) use_own_slot(walk, at);
  // The other copy follows at the same place, with the next call.
  next_slots_[walk.index] = at + (copy != 0 ? extent : 0);
  if (walked_[walk.index] < kManyCalls) ++walked_[walk.index];
}

void Lane::use_own_slot(const SlotWalk& walk, uint64_t at) {
  if (walk.room > slots_reserved_) [[unlikely]] {
    status_ = window_->reserve_slots(walk.room);
    slots_reserved_ = walk.room;
  }
  const uint64_t end = at + part_->slot_extent;
  // Calls that follow on one another and walk alike, through as much, come back to a place after
  // all others.
  const bool long_walk = part_->slot_extent * (most_ahead() / 2 + 1) <= walk.room;
  const bool long_alike = call_ - walks_alike_from_ > most_ahead();
  if (!(long_walk && long_alike)) gate_ = later(gate_, last_use_of_slot(at, end) + 1);
  slot_uses_[call_ % kCallLines] = {call_, at, end};
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
    if (!status_.ok()) return;
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

Lane::SlotWalk Lane::slot_walk() const {
  const uint64_t extent = part_->slot_extent;
  const uint64_t half = slot_bytes_ / 2;
  if (extent > half) return {kWhole, slot_bytes_};
  size_t index = 0;
  while (index < kHalf && extent > kWalks[index].longest) ++index;
  if (index == kHalf) return {kHalf, half};
  const WalkRooms& rooms = kWalks[index];
  const uint64_t room = walked_[index] < kManyCalls    ? rooms.first
                        : line_mask_ + 1 == kCallLines ? rooms.of_crowd
                                                       : rooms.later;
  return {index, std::min(room, half)};
}

uint64_t Lane::next_slot(const SlotWalk& walk) const {
  const uint64_t next = next_slots_[walk.index];
  return next + part_->slot_extent <= walk.room ? next : 0;
}

// Takes the lines that the next call will write, if it is like this one, from the peers that have
// read them: its entry, and its slot. Done while this call waits, it costs nothing, and shortens an
// allreduce of 8 bytes by a sixth, of 4 KiB by a fifth. Done when the slot is written, it makes
// that slower.
void Lane::take_next_lines() {
  prefetch_to_write(&line_of(rank_, call_ + 1));
  const uint64_t written = part_->traits.slot_written;
  if (part_->trades_slots || written == 0 || written > kMostTaken || past_caches_) return;
  const std::byte* slot = shared(rank_).slots[(call_ + 1) & 1] + next_slot(slot_walk());
  for (uint64_t at = 0; at < written; at += kCacheLine) prefetch_to_write(slot + at);
}

// The same for the entries of the calls that this one may be followed by without looking further:
// no peer has a look at their lines any more. Who only gives does not wait, so stores to them would
// be waited for one after the other: between far cores, calls of 8 bytes from or to a root take
// 0.85 to 0.9 of the time, gatherv and scatterv 0.75 (near 1.00 to 1.04). Not beside slots: there
// it makes those that wait for their lines slower.
void Lane::take_lines_ahead() {
  constexpr uint32_t kTakenAhead = 3;
  if (part_->traits.slot_written > 0) return;
  for (uint32_t i = 1; i <= kTakenAhead; ++i) prefetch_to_write(&line_of(rank_, call_ + i));
}

// Who only gives may be calls ahead. Then what it has written for the next call, if that is like
// this one, is on its way while this one is done: broadcasts and reduces of 8 bytes take 0.8 to
// 0.87 of the time. Not if this rank had to wait: a line that is fetched before its owner has
// written it, it must take back.
void Lane::fetch_next_of(int peer) {
  __builtin_prefetch(&line_of(peer, call_ + 1));
  const uint64_t extent = part_->slot_extent;
  if (extent == 0 || extent > kMostFetched) return;
  const std::byte* slot = shared(peer).slots[(call_ + 1) & 1] + next_slot(slot_walk());
  for (uint64_t at = 0; at < extent; at += kCacheLine) __builtin_prefetch(slot + at);
}

}  // namespace tutti
