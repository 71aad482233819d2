// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The shared region of a communicator, whose file is sparse. The first two rows are mapped at the
// start, each further one when it is first used.
//
// clang-format off
//   region     one for each    what is in it                          allocated
//   ---------  --------------  -------------------------------------  ---------------------
//   common     communicator    header, descriptor, members, shared    at the start
//                              state, sleepers, bells, arena signs,
//                              life signs, departures, regroup
//                              board, open rings
//   lines      rank and lane   four pages: call lines, progress,      at the start, by rank
//                              records, fallback, notes
//   slots      lane and rank   two: payloads of calls                 when used, by rank
//   ping-pong  lane and rank   a slot that two ranks swap             when used, by all
//   window     lane and rank   chunks of long calls                   when used, by rank
//   fallback   lane and rank   pieces of buffers that a peer copies   when used, by rank
//   rings      channel, ranks  credits, cells, data, ping-pong        when used, by sender
//              (ordered pair)  buffer (ping_pong.hpp)
//   arenas     rank            memory of tutti_alloc (arena.hpp)      when used, by rank
// clang-format on
//
// Lines that different ranks write lie at least 128 bytes apart, because processors fetch lines in
// pairs. Data that a rank writes in quantity lies on pages of its own, which it touches first.
#pragma once

#include <cstdint>

#include "core/pages.hpp"
#include "transports/shm/ring.hpp"
#include "transports/transport.hpp"

namespace tutti::shm {

inline constexpr uint64_t kPageBytes = 4096;
inline constexpr uint64_t kLinesBytes = 4 * kPageBytes;  // bytes of a lane's lines
inline constexpr uint64_t kInterferenceBytes = 2 * kCacheLine;
inline constexpr uint64_t kDescriptorBytes = 4 * kInterferenceBytes;
inline constexpr uint64_t kMemberBytes = 32;  // descriptor.hpp

// The beginning of the region, written by the maker before it hands it over, then read only.
struct Header {
  std::byte nonce[16];
  uint64_t total_bytes;
};

// The address at which the arena of a rank begins in its process; 0: it has none yet.
struct alignas(kCacheLine) ArenaSign {
  std::atomic<uint64_t> base;
};
// How many ranks have left: endpoints look at all departures when it has changed.
struct alignas(kInterferenceBytes) Departures {
  std::atomic<uint32_t> count;
};
// A piece of what a peer copies: fallback_copy.hpp.
inline constexpr uint64_t kFallbackBytes = 64 << 10;
struct alignas(kInterferenceBytes) FallbackRequest {
  std::atomic<uint64_t> number_and_owner;  // the rest precedes it
  uint64_t address;                        // in the owner's process
  uint64_t bytes;
};
// The answer of the owner of what was requested.
struct alignas(kInterferenceBytes) Reply {
  std::atomic<uint32_t> number;  // of the last request that was looked after
  int error;                     // an errno; written before `number`
};
// How often a rank has been asked for something, by all.
struct alignas(kInterferenceBytes) Asked {
  std::atomic<uint32_t> count;
};
struct FallbackLines {
  FallbackRequest request;
  Reply reply;
  Asked asked;
};
inline constexpr uint64_t kArenaBytes = uint64_t{64} << 30;

struct Extent {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  [[nodiscard]] constexpr uint64_t end() const { return offset + bytes; }
};

class Layout {
 public:
  Layout(int ranks, int lanes, int channels, LaneMemorySizes sizes);

  [[nodiscard]] int ranks() const { return static_cast<int>(ranks_); }
  [[nodiscard]] int lanes() const { return static_cast<int>(lanes_); }
  [[nodiscard]] int channels() const { return static_cast<int>(channels_); }
  [[nodiscard]] const LaneMemorySizes& sizes() const { return sizes_; }
  [[nodiscard]] uint64_t total_bytes() const { return total_; }

  // The bytes that are mapped at the start.
  [[nodiscard]] uint64_t near_bytes() const { return slots_; }
  [[nodiscard]] Extent common() const { return {0, lines_}; }
  // The descriptor for who looks from outside (descriptor.hpp), and the members of all ranks.
  [[nodiscard]] Extent descriptor() const { return {kInterferenceBytes, kDescriptorBytes}; }
  [[nodiscard]] Extent members() const { return {descriptor().end(), ranks_ * kMemberBytes}; }
  [[nodiscard]] Extent state() const { return {state_, sizeof(SharedState)}; }
  [[nodiscard]] Extent sleepers() const { return {sleepers_, sizeof(Sleepers)}; }
  [[nodiscard]] Extent bell(int rank) const;
  [[nodiscard]] Extent arena_sign(int rank) const;
  [[nodiscard]] Extent life_sign(int rank) const;
  [[nodiscard]] Extent departures() const { return {departures_, sizeof(Departures)}; }
  // The departures of all ranks lie one behind the other.
  [[nodiscard]] Extent departure(int rank) const;
  [[nodiscard]] Extent regroup_decision() const;
  // Signs of all ranks, one behind the other.
  [[nodiscard]] Extent regroup_signs() const;
  // The bits of those that have opened a ring to `rank` on `channel`.
  [[nodiscard]] Extent open_rings(int channel, int rank) const;

  // The lines of all lanes of a rank.
  [[nodiscard]] Extent lines(int rank) const;
  [[nodiscard]] Extent calls(int rank, int lane) const;
  [[nodiscard]] Extent records(int rank, int lane) const;
  [[nodiscard]] Extent progress(int rank, int lane) const;
  [[nodiscard]] Extent slot(int rank, int lane, int which) const;
  [[nodiscard]] Extent ping_pong_slot(int rank, int lane) const;
  [[nodiscard]] Extent window(int rank, int lane) const;
  // The slots of all ranks.
  [[nodiscard]] Extent slots(int lane) const;
  [[nodiscard]] Extent ping_pong_slots(int lane) const;
  [[nodiscard]] Extent windows(int lane) const;
  [[nodiscard]] Extent fallback_lines(int rank, int lane) const;
  [[nodiscard]] Extent notes(int rank, int lane) const;
  [[nodiscard]] Extent fallback_buffer(int rank, int lane) const;

  // The ring between two different ranks.
  [[nodiscard]] Extent ring(int channel, int from, int to) const;
  // The buffer that is the sender's at first.
  [[nodiscard]] Extent ping_pong(int channel, int from, int to) const;
  // Rings and ping-pong buffers of both directions.
  [[nodiscard]] Extent pair(int channel, int a, int b) const;

  // The arena of a rank, behind total_bytes() if the file is as long as that.
  [[nodiscard]] Extent arena(int rank) const;
  [[nodiscard]] uint64_t total_with_arenas() const { return arena(ranks()).offset; }

 private:
  [[nodiscard]] uint64_t lane_offset(int rank, int lane) const;

  uint64_t ranks_;
  uint64_t lanes_;
  uint64_t channels_;
  LaneMemorySizes sizes_;
  uint64_t state_ = 0;
  uint64_t sleepers_ = 0;
  uint64_t bells_ = 0;
  uint64_t signs_ = 0;
  uint64_t life_signs_ = 0;
  uint64_t departures_ = 0;
  uint64_t regroup_ = 0;
  uint64_t open_rings_ = 0;
  uint64_t open_rings_bytes_ = 0;
  uint64_t lines_ = 0;
  uint64_t slot_bytes_ = 0;  // rounded to pages, as are the following
  uint64_t ping_pong_slot_bytes_ = 0;
  uint64_t window_bytes_ = 0;
  uint64_t slots_ = 0;
  uint64_t ping_pong_slots_ = 0;
  uint64_t windows_ = 0;
  uint64_t fallback_buffers_ = 0;
  uint64_t rings_ = 0;
  uint64_t ring_bytes_ = 0;
  uint64_t ping_pong_bytes_ = 0;
  uint64_t total_ = 0;
};

}  // namespace tutti::shm
