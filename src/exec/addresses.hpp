// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The addresses in this process of all spaces that a schedule names (sched/schedule.hpp), for the
// call that runs. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/status.hpp"
#include "exec/call_log.hpp"
#include "sched/schedule.hpp"
#include "transports/transport.hpp"

namespace tutti {

// The addresses of the rank's buffers, which an entry may have in place of a payload.
struct BufferAddresses {
  std::byte* send;
  std::byte* recv;
};
inline constexpr size_t kBufferAddressesBytes = sizeof(BufferAddresses);

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
