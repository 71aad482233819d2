// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A schedule: what one rank does for one collective, as plain data. Built by a pure function, it
// knows no addresses and no transport; the executor runs it, the verifier proves it, and
// `tutti explain` draws it. Steps are unrolled over chunks: a chunk is tens of microseconds of
// work, its handful of steps costs a few nanoseconds each.
//
// Time between ranks. Each rank counts what it makes known in one number per call, the tick.
// publish(t) says "all my steps before this one have happened"; await(peer, t) blocks until peer
// has published t or more. Tick 1 is special: it is the rank's entry into the call, travels with
// the call's signature and with the payload of Space::kLine. The executor begins a call only when
// all ranks have finished the last one that used the same line or the same part of the slot, and
// ends it only when all have entered it, where that matters (exec/call_log.hpp). This decides what
// may be written without asking:
//   kLine, kSlot: calls take turns in several copies; write at once. A call uses one or the other,
//   unless Schedule::slot_extent says what it uses of its slots on every rank.
//   What is in a line at tick 1 is read with it; what is written there later, after a later tick.
//   kWindow: one copy; write only after await(all, 1), for a peer may still be reading in call n-1.
// Only its owner writes a line, slot or window; everyone on the host reads.
//
// Ping-pong slots. Where a schedule says so (Schedule::ping_pong_slots), the two ranks of a
// communicator of two may take each other's slot the next time. By its end each has read what the
// other wrote there and has seen the highest tick, after which nobody touches its own slot; so each
// writes next what it has read last, whose lines its caches have.
//
// Pulls. Where Limits::pulls holds, ranks can also read the caller's buffers of a peer: spaces
// kPeerSend and kPeerRecv, in kPull steps only, or where Limits::views holds in kReduce steps too.
// For this the entry of every rank shows where its buffers lie, instead of a payload
// (Schedule::shows_buffers). A rank pulls after await(peer, 1), and nobody ends before those that
// pull from it have published that they are done.
//
// Heads. Where a rank knows the sizes of its own blocks only, a sender shows of each block a head
// in its slot: how long it is. The receiver expects a length; that the two are equal is found out
// when they run. Where a block is short, it lies behind its head; else it comes as a message.
//
// Messages. send and recv match in order per pair of ranks, carry no tag, and have no bounded
// buffer to rely on: a schedule must be free of deadlock even if no send completes before its recv
// begins. A send only starts; its source must stay as it is until the next fence, which waits for
// all sends so far. There is a fence at the end of every schedule.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/hosts.hpp"
#include "core/slot_plan.hpp"
#include "core/types.hpp"
#include "core/wait.hpp"

namespace tutti {

enum class Space : uint8_t {
  kSend,      // the caller's send buffer; never written
  kRecv,      // the caller's receive buffer (broadcast: the buffer)
  kScratch,   // private, Schedule::scratch_bytes long, contents undefined at the start
  kLine,      // payload of the call line, kLineBytes
  kSlot,      // staging that is written at once, SlotPlan::call_bytes, or slot_bytes if
              // Schedule::slot_extent says so
  kWindow,    // staging that is asked for, Limits::window_bytes
  kPeerSend,  // kSend of a peer; only read
  kPeerRecv,  // kRecv of a peer; only read
};

inline constexpr uint32_t kPrivateSpaces = 3;  // of a rank itself
inline constexpr uint32_t kPeerSpaces = 5;     // of every rank, as its peers see it

inline constexpr uint32_t kLineBytes = 56;

// A place: a space (of a peer, for the shared ones) and an offset in bytes.
struct Ref {
  // The index of the space's base address in the executor's table: 0 send, 1 recv, 2 scratch, then
  // line, slot, window, send, recv of rank 0, of rank 1, ...
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
  kCopy,     // dst <- src
  kPull,     // dst <- src, which lies in a buffer of a peer
  kShow,     // dst <- the head of the block src; may be of 0 bytes
  kExpect,   // src is a head that peer shows: it must say `bytes`
  kReduce,   // dst <- sources[0] op sources[1] op ..., elementwise in that order; dst may be one of
             // them
  kSend,     // start sending src to peer
  kRecv,     // receive from peer into dst; ends when the bytes are there
  kFence,    // wait until all sends so far are complete
  kPublish,  // my tick becomes `tick`
  kAwait,    // wait for `tick` of peer, or of all peers (kAllPeers)
};

inline constexpr int kAllPeers = -1;

// What a rank shows of a block that it gives to a peer. Lies on a multiple of its size.
struct BlockHead {
  uint64_t bytes;
};

struct Step {
  StepKind kind;
  // kReduce: this completes the reduction of these elements over all ranks (where avg divides).
  bool finishes = false;
  // kCopy, kPull, kReduce: dst is the caller's buffer and nobody reads it soon: non-temporal stores
  // pay.
  bool streams = false;
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
  bool shows_buffers = false;  // the entry tells where the rank's buffers lie: it has no payload
  // How much of the slots any rank may use, the same number on every rank; 0: as follows from the
  // arguments of the call.
  uint64_t slot_extent = 0;
  bool ping_pong_slots = false;
  uint32_t ticks = 1;  // the highest tick that any rank publishes: the same number on every rank
};

// What every rank of a communicator agrees on at its creation.
struct Limits {
  SlotPlan slots;  // none: ranks share no memory, algorithms must use messages only
  uint64_t window_bytes = 0;
  uint64_t chunk_bytes = 0;  // of one rank's data, per pipeline stage; <= window_bytes / 2
  uint64_t stream_bytes = UINT64_MAX;  // non-temporal stores from this message size on
  bool pulls = false;           // ranks can read one another's buffers; only if they share memory
  bool views = false;           // and pulls are plain copies, because all see all of these buffers
  int pull_readers = 0;         // of one rank's buffer at a time, where all read one; 0: all
  bool tries_streams = false;   // stream_bytes is a guess: calls may find out what is faster
  bool pulls_few = false;       // `pulls` is meant for those that for_calls_of() names
  bool oversubscribed = false;  // ranks share cores

  // Those for one collective.
  [[nodiscard]] Limits for_calls_of(Collective collective) const {
    Limits limits = *this;
    const bool one_of_few =
        collective == Collective::kAllgather || collective == Collective::kAllgatherv ||
        collective == Collective::kAlltoall || collective == Collective::kScatter;
    limits.pulls = pulls && (!pulls_few || one_of_few);
    return limits;
  }
};

// A contiguous part of something, in bytes.
struct Range {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

// Where the blocks of a buffer lie that differ in size, in elements.
struct Layout {
  std::vector<uint64_t> counts;
  std::vector<uint64_t> offsets;
  friend bool operator==(const Layout&, const Layout&) = default;
};
struct Layouts {
  Layout send;
  Layout recv;
  friend bool operator==(const Layouts&, const Layouts&) = default;
};

// The arguments of a build. Buffers by collective, in units of count elements ("block"):
//   allreduce: send 1, recv 1.  broadcast: send unused; recv 1 (the buffer, source at the root).
//   allgather: send 1, recv `ranks` blocks.  reduce_scatter: send `ranks` blocks, recv 1.
//   alltoall: send and recv `ranks` blocks.  reduce: send 1; recv 1, at the root only.
//   gather: send 1; recv `ranks` blocks, at the root only.
//   scatter: send `ranks` blocks, at the root only; recv 1.
//   barrier: nothing, count 0.
// blocks_of() in core/types.hpp says the same.
// Where there are `ranks` blocks, block i begins at i * stride (a lane works on part of each
// block).
struct Problem {
  Collective collective = Collective::kBarrier;
  int rank = 0;
  int ranks = 1;
  int root = 0;
  uint64_t count = 0;   // elements per block
  uint64_t stride = 0;  // elements from block to block, >= count
  uint32_t element_bytes = 1;
  // allgatherv, reduce_scatterv, alltoallv, gatherv, scatterv: the blocks of this rank's buffers,
  // as many as without the v. Of the first two, every rank knows all, and `count` is the largest;
  // of the others a rank knows its own only, and `count` is 0. No layout: blocks as without the v.
  Layouts layouts;
  // The caller's buffers coincide (allreduce, reduce: send == recv; allgather, gather: send is
  // block `rank` of recv; reduce_scatter, scatter: recv is block `rank` of send). Where there is a
  // root, only its buffers can, and it means nothing on the other ranks.
  bool in_place = false;
  // Only a reduction in one step in rank order will do (needs_rank_order() in core/types.hpp).
  bool rank_order = false;
  Limits limits;
  // If the ranks are on several hosts: where. They then share no memory (Limits::slots has none);
  // a composition's phases within a host do.
  const Hosts* hosts = nullptr;
  // If the ranks share memory, but not all of them a last-level cache: which do, as if they were
  // on a host. Null if they all do or it is not known.
  const Hosts* cache_domains = nullptr;

  [[nodiscard]] uint64_t bytes() const { return count * element_bytes; }
  // Whether all ranks know the sizes of all blocks, or of the largest.
  [[nodiscard]] bool known_to_all() const { return !is_uneven(collective) || count > 0; }
  // The most that any rank receives, if all blocks are as long as the largest; 0 if that is not
  // known to all.
  [[nodiscard]] uint64_t received_bytes() const {
    const bool blocks = blocks_of(collective, true).recv == Blocks::kPerRank;
    return bytes() * (blocks ? static_cast<uint64_t>(ranks) : 1);
  }
  // How much of the slots any rank uses, unless the schedules say otherwise: the block that it
  // gives, or those of the others. As much on every rank, so of the call's arguments alone.
  [[nodiscard]] uint64_t slot_extent() const {
    const bool blocks = blocks_of(collective, true).send == Blocks::kPerRank;
    const uint64_t most = bytes() * (blocks ? static_cast<uint64_t>(ranks) - 1 : 1);
    return whole_lines(std::min(most, limits.slots.call_bytes));
  }
  // How far a schedule may use slots at most, if it says that it does.
  [[nodiscard]] uint64_t whole_slot_bytes() const { return limits.slots.longest_bytes(); }
  // The longest that may go through slots, which are ping-pong slots if there are two ranks.
  [[nodiscard]] uint64_t ping_pong_slot_bytes() const { return limits.slots.swapped_bytes(ranks); }
  [[nodiscard]] uint64_t stride_bytes() const { return stride * element_bytes; }
  // Block i of the buffer; block 0 if it has but one.
  [[nodiscard]] Range send_block(int i) const { return block(layouts.send, i); }
  [[nodiscard]] Range recv_block(int i) const { return block(layouts.recv, i); }

 private:
  [[nodiscard]] Range block(const Layout& layout, int i) const {
    const auto at = static_cast<size_t>(i);
    if (layout.counts.empty()) return {at * stride_bytes(), bytes()};
    return {layout.offsets[at] * element_bytes, layout.counts[at] * element_bytes};
  }
};

// One line per step, e.g. "reduce recv+0 <- slot[0]+0, slot[1]+0  (4096 B, finishes)".
std::string to_string(const Schedule& schedule);
std::string to_string(const Step& step, const Schedule& schedule);
std::string to_string(const Ref& ref);

}  // namespace tutti
