// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A schedule: what one rank does for one collective, as plain data. A pure function builds it from
// a Problem (sched/problem.hpp). It knows no addresses and no transport; a lane runs it, the
// verifier proves it, and `tutti explain` draws it. Steps are unrolled over chunks: a chunk is tens
// of microseconds of work, its handful of steps costs a few nanoseconds each.
//
// Time between ranks. Each rank counts what it makes known in one number per call, the tick.
// publish(t) says "all my steps before this one have happened"; await(peer, t) blocks until peer
// has published t or more. Tick 1 is special: it is the rank's entry into the call, travels with
// the call's signature and with the payload of Space::kLine. A lane begins a call only when all
// ranks have finished the last one that used this line or this part of the slot
// (exec/call_log.hpp). It ends a call only when all have entered it, unless it may run ahead
// (Traits::runs_ahead). This decides what may be written without asking:
//   kLine, kSlot: calls take turns in several copies; write at once. A call uses one or the other,
//   unless Schedule::slot_extent says what it uses of its slots on every rank.
//   What is in a line at tick 1 is read with it; what is written there later, after a later tick.
//   kWindow: one copy; write only after await(all, 1), for a peer may still be reading in call n-1.
// Only its owner writes a line, slot or window; everyone on the host reads. Ping-pong slots, below,
// are an exception to this, and to when a call may begin.
//
// Ping-pong slots. The two ranks of a communicator of two may take each other's slot the next time
// if a schedule says so (Schedule::ping_pong_slots). At its end each has read what the other wrote
// there and has seen the highest tick, after which nobody touches its own slot. So each writes next
// what it has read last, whose lines its caches have.
//
// Pulls. If Limits::pulls holds, ranks can also read the caller's buffers of a peer: spaces
// kPeerSend and kPeerRecv. Only kPull steps may, and kReduce steps if Limits::maps_peers holds. For
// this the entry of every rank shows where its buffers lie, instead of a payload
// (Schedule::exports_buffers). A rank pulls after await(peer, 1), and nobody ends before those that
// pull from it have published that they are done. If ranks know the sizes of their own blocks only,
// kPeerSend of a peer begins at the block that it has for this rank (Limits::exports_blocks). The
// runner of the schedule finds out before if the two lengths are equal.
//
// Heads. If ranks know the sizes of their own blocks only, a sender writes a head of each block
// into its slot: its length. The receiver expects a length; that the two are equal is found out
// when they run. A short block lies behind its head; another comes as a message.
//
// Messages. send and recv match in order per pair of ranks, carry no tag, and have no bounded
// buffer to rely on. A schedule must be free of deadlock even if no send completes before its recv
// begins. A send only starts; its source must stay as it is until the next fence, which waits for
// all sends so far. There is a fence at the end of every schedule.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

enum class Space : uint8_t {
  kSend,      // the caller's send buffer; never written
  kRecv,      // the caller's receive buffer (broadcast: the buffer)
  kScratch,   // private, Schedule::scratch_bytes long, contents undefined at the start
  kLine,      // payload of the call line, kLineBytes
  kSlot,      // staging that is written at once, SlotPlan::call_bytes, or slot_bytes if
              // Schedule::slot_extent says so
  kWindow,    // staging that is asked for, Limits::window_bytes
  kPeerSend,  // kSend of a peer, or its block for this rank (sizes_are_own()); only read
  kPeerRecv,  // kRecv of a peer; only read
};

inline constexpr uint32_t kPrivateSpaces = 3;  // spaces of one rank itself
inline constexpr uint32_t kPeerSpaces = 5;     // spaces of every rank, as its peers see them

inline constexpr uint32_t kLineBytes = 56;

// A place: a space (of a peer, for the shared ones) and an offset in bytes.
struct Ref {
  // The index of the space's base address in the lane's table (exec/call_memory.hpp). 0 is send, 1
  // recv, 2 scratch. Then come line, slot, window, send, recv of rank 0, of rank 1, ...
  uint32_t base = 0;
  uint64_t offset = 0;

  static constexpr Ref of(Space space, uint64_t offset, int peer = 0) {
    const auto s = static_cast<uint32_t>(space);
    return {s < kPrivateSpaces ? s : s + kPeerSpaces * static_cast<uint32_t>(peer), offset};
  }
  [[nodiscard]] constexpr Space space() const {
    return static_cast<Space>(
        base < kPrivateSpaces ? base : kPrivateSpaces + (base - kPrivateSpaces) % kPeerSpaces);
  }
  [[nodiscard]] constexpr int peer() const {
    return base < kPrivateSpaces ? -1 : static_cast<int>((base - kPrivateSpaces) / kPeerSpaces);
  }
  [[nodiscard]] constexpr Ref plus(uint64_t bytes) const { return {base, offset + bytes}; }
  friend constexpr bool operator==(const Ref&, const Ref&) = default;
};

enum class StepKind : uint8_t {
  kCopy,       // dst <- src
  kPull,       // dst <- src, which lies in a buffer of a peer
  kWriteHead,  // dst <- the head of the block src; may be of 0 bytes
  kExpect,     // src is a head that peer shows: it must say `bytes`
  kReduce,   // dst <- sources[0] op sources[1] op ..., elementwise in that order; dst may be one of
             // them
  kSend,     // start sending src to peer
  kRecv,     // receive from peer into dst; ends when the bytes are there
  kFence,    // wait until all sends so far are complete
  kPublish,  // my tick becomes `tick`
  kAwait,    // wait for `tick` of peer, or of all peers (kAllPeers)
};

inline constexpr int kAllPeers = -1;

// The head of a block that a rank gives to a peer. It lies on a multiple of its size.
struct BlockHead {
  uint64_t bytes;
};

struct Step {
  StepKind kind;
  // kReduce: this completes the reduction of these elements over all ranks (where avg divides).
  bool finishes = false;
  // kCopy, kPull, kReduce: dst is the caller's buffer and nobody reads it soon: non-temporal stores
  // pay.
  bool non_temporal = false;
  // kCopy, kReduce: the next step copies the same, and both run in one pass. Set where it holds by
  // who executes the schedule (exec/merge.hpp); means nothing else.
  bool with_next = false;
  int32_t peer = 0;
  uint32_t tick = 0;
  uint32_t first_source = 0;  // kReduce: its sources are Schedule::sources[first_source ...]
  uint32_t source_count = 0;
  Ref dst;
  Ref src;
  uint64_t bytes = 0;
};

struct Schedule {
  std::vector<Step> steps;
  std::vector<Ref> sources;
  uint64_t scratch_bytes = 0;
  bool exports_buffers = false;  // the entry tells where the rank's buffers lie: it has no payload
  // How much of the slots any rank may use, the same number on every rank; 0: as follows from the
  // arguments of the call.
  uint64_t slot_extent = 0;
  bool ping_pong_slots = false;
  uint32_t ticks = 1;  // the highest tick that any rank publishes: the same number on every rank
};

// The memory that a step reads: a reduction in the order in which it combines, the head of a block
// none. Also whether it writes to `dst`.
std::span<const Ref> reads_of(const Step& step, const Schedule& schedule);
bool writes(const Step& step);
template <typename There>
bool touches(const Step& step, const Schedule& schedule, There there) {
  return (writes(step) && there(step.dst)) || std::ranges::any_of(reads_of(step, schedule), there);
}
inline auto in_space(Space space) {
  return [space](const Ref& ref) { return ref.space() == space; };
}
inline bool is_buffer_of_peer(Space space) { return space >= Space::kPeerSend; }
inline bool is_shared(Space space) { return space >= Space::kLine && !is_buffer_of_peer(space); }

// One line per step, e.g. "reduce recv+0 <- slot[0]+0, slot[1]+0  (4096 B, finishes)".
std::string to_string(const Schedule& schedule);
std::string to_string(const Step& step, const Schedule& schedule);
std::string to_string(const Ref& ref);
std::string_view name_of(StepKind kind);  // "copy"

}  // namespace tutti
