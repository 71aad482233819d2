// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The memory of the call that runs on a lane: its place in the slots, and the addresses of all that
// its schedule names. One thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/status.hpp"
#include "exec/call_log.hpp"
#include "sched/schedule.hpp"
#include "transports/transport.hpp"

namespace tutti {

// The place of each call in the slots of a lane. Every rank has two copies of its slot; calls
// alternate between them and move along them. All ranks come to the same places, from the calls'
// arguments alone.
//
// Calls move along because a core writes lines that lie in its own second-level cache faster than
// lines that a peer has just read (docs/notes/12-lines-of-small-calls.md). Tiny calls move through
// 2 KiB only, which the first-level cache holds.
class SlotAllocator {
 public:
  // How calls of one size class move along.
  struct SizeClass {
    size_t index;   // of the class
    uint64_t room;  // bytes of each copy
  };

  // `memory` may be null: then nothing may be asked for.
  SlotAllocator(LaneMemory* memory, bool oversubscribed);

  [[nodiscard]] SizeClass size_class_of(uint64_t extent) const;
  // Whether memory is needed that is not mapped or, for what this rank writes, not reserved yet.
  [[nodiscard]] bool must_grow(const SizeClass& size_class, bool writes) const {
    return size_class.room > used_ || (writes && size_class.room > reserved_);
  }
  Status grow(const SizeClass& size_class, bool writes, uint32_t call);

  // The offset of the call's slot in copy `call & 1`. Calls that use slots ask for it in their
  // order.
  uint64_t place(uint32_t call, uint64_t extent, const SizeClass& size_class);
  // Records the call's use of its slot, after place(); returns the call that all peers must have
  // entered first.
  [[nodiscard]] uint32_t claim_place(const CallLog& log, uint64_t extent,
                                     const SizeClass& size_class, uint64_t at);
  // The place of the next call like this one.
  [[nodiscard]] uint64_t next_place(uint64_t extent, const SizeClass& size_class) const {
    const uint64_t next = next_[size_class.index];
    return next + extent <= size_class.room ? next : 0;
  }

  // Begins a call with ping-pong slots (sched/schedule.hpp), which the two ranks swap from call to
  // call: each writes next what it has read last, which its caches have. Returns whether they use
  // each other's in it.
  bool swap() { return swapped_ = !swapped_; }
  [[nodiscard]] bool must_grow_ping_pong(uint64_t extent) const {
    return extent > ping_pong_reserved_;
  }
  Status grow_ping_pong(uint64_t extent);

  // Whether calls use slots whose memory has just been made, so that times say nothing.
  [[nodiscard]] bool is_new(uint32_t call) const { return call - new_from_ < 2; }

 private:
  static constexpr size_t kClasses = 4;
  // The part of this rank's slot that a call writes.
  struct Use {
    uint32_t call;
    uint64_t begin;
    uint64_t end;
  };

  [[nodiscard]] uint32_t last_use(const CallLog& log, uint64_t begin, uint64_t end) const;

  LaneMemory* const memory_;
  const bool oversubscribed_;
  const uint64_t slot_bytes_;                // bytes of each copy
  std::array<uint64_t, kClasses> next_{};    // where the next call's part begins, by class
  std::array<uint32_t, kClasses> placed_{};  // calls of that class so far, at most kManyCalls
  uint64_t used_ = 0;                        // bytes of each copy that calls have used so far
  uint64_t reserved_ = 0;     // bytes of each of this rank's copies that are reserved
  uint32_t new_from_ = 0;     // the call that used more of them than any before
  uint64_t last_extent_ = 0;  // extent of the last call that was placed
  uint64_t last_room_ = 0;    // room through which the last call moved
  uint32_t last_call_ = 0;    // number of the last call that was placed
  uint32_t alike_from_ = 0;   // first of the calls in a row that moved alike
  uint64_t ping_pong_reserved_ = 0;
  bool swapped_ = false;                // whether the ping-pong slots are swapped
  std::array<Use, kCallLines> uses_{};  // one for each call line
};

// The addresses of the rank's buffers, which an entry may have in place of a payload.
struct BufferAddresses {
  std::byte* send;
  std::byte* recv;
};
inline constexpr size_t kBufferAddressesBytes = sizeof(BufferAddresses);

// The addresses in this process of all spaces that a schedule names (sched/schedule.hpp), for the
// call that runs.
class Addresses {
 public:
  // `memory` may be null: then there are the private spaces only. It outlives the addresses.
  Addresses(int rank, LaneMemory* memory);

  [[nodiscard]] std::byte* of(const Ref& ref) const { return bases_[ref.base] + ref.offset; }

  // Setters of the places of one call.
  void set_buffers(std::byte* send, std::byte* recv) {
    bases_[0] = send;
    bases_[1] = recv;
  }
  void set_scratch(std::byte* scratch) { bases_[2] = scratch; }
  void set_lines(const CallLog& log) {
    for (int peer = 0; peer < ranks(); ++peer) {
      base(Space::kLine, peer) = log.line_of(peer, log.call()).payload;
    }
  }
  void set_slots(size_t copy, uint64_t offset) {
    for (int peer = 0; peer < ranks(); ++peer) {
      base(Space::kSlot, peer) = shared_[static_cast<size_t>(peer)].slots[copy] + offset;
    }
  }
  // Ping-pong slots: each of the two ranks writes its own slot, or, if swapped, that of the other.
  void set_ping_pong_slots(bool swapped) {
    base(Space::kSlot, 0) = shared_[swapped ? 1 : 0].ping_pong;
    base(Space::kSlot, 1) = shared_[swapped ? 0 : 1].ping_pong;
  }
  // Maps the windows of all ranks, when they are first used.
  Status map_windows();

  // The addresses of this rank's buffers, and those of a peer in its process.
  [[nodiscard]] BufferAddresses own_buffers() const { return {bases_[0], bases_[1]}; }
  void set_buffers_of(int peer, const BufferAddresses& theirs) {
    const std::span<std::byte*, 2> buffers = buffers_of(peer);
    buffers[0] = theirs.send;
    buffers[1] = theirs.recv;
  }
  // Whether the buffers of all ranks lie in memory that all map (tutti_alloc). All ranks come to
  // the same answer, for they look at the same addresses.
  [[nodiscard]] bool sees_all_buffers();
  // Turns the addresses of peers' buffers into those at which this process maps them.
  void take_mapped_buffers();

  // The beginning of a copy of a rank's slots, wherever in it the slot of the call lies.
  [[nodiscard]] const std::byte* slots_of(int rank, size_t copy) const {
    return shared_[static_cast<size_t>(rank)].slots[copy];
  }

 private:
  [[nodiscard]] int ranks() const { return static_cast<int>(shared_.size()); }
  [[nodiscard]] std::byte*& base(Space space, int peer) {
    return bases_[Ref::of(space, 0, peer).base];
  }
  // The bases of a rank's two buffers, send and recv.
  [[nodiscard]] std::span<std::byte*, 2> buffers_of(int rank);

  const int rank_;
  LaneMemory* const memory_;
  const std::span<const LaneMemory::Rank> shared_;  // one for each rank
  std::vector<std::byte*> bases_;                   // one for each Ref::base
};

}  // namespace tutti
