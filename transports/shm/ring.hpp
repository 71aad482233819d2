// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The ring through which one rank sends to one other on one channel: what lies in shared memory.
//
// A frame is one cell, a cache line that carries its own validity. The producer writes the rest of
// the line, then the round (store-release); the consumer watches the round of the next cell. So a
// tiny message costs the transfer of one line. Bytes that do not fit in the cell lie in the data
// area, in one piece each, in the order of the cells. A payload that does not fit behind the last
// begins the next round. Or they lie in a ping-pong buffer (ping_pong.hpp). The consumer gives room
// back through its line of credits, which the producer reads only when it has run out.
//
// The other side may have overwritten anything here with nonsense. So each number is read once
// (relaxed atomics) and checked before it is used.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/tuned.hpp"
#include "core/wait.hpp"

namespace tutti::shm {

inline constexpr uint64_t kCells = 256;
inline constexpr uint64_t kInlineBytes = 40;
// Messages up to here need not ask whether they may be sent.
using tuned::kEagerShmBytes;

enum class RingFrameKind : uint32_t {
  kEager = 1,    // a whole message: tag, bytes, payload; if it is long, instead of an id how many
                 // nanoseconds it took the producer to write
  kRequest = 2,  // asks to send a long one: tag, bytes, id of the send, where it lies
  kGrant = 3,    // the answer: id of the send, `tag` is the id of the receive, bytes it wants
  kData = 4,     // a piece of a granted message: `tag` is the id of the receive, bytes, payload
  kTaken = 5,  // the other answer: id of the send, which the receiver has read; `tag` and bytes as
               // in a grant
};

// The place of a payload that is not in the cell; from kPingPong on, the ping-pong buffer of that
// number.
enum PayloadIn : uint32_t { kRing, kPingPong };

// The further numbers of frames without payload in the cell.
struct CellNumbers {
  std::atomic<uint64_t> id;
  // A request has here the address of its buffer in the producer's process. A payload in the data
  // area has here where it begins: bytes since the start, with all rounds of the area counted as
  // whole.
  std::atomic<uint64_t> where;
  std::atomic<uint32_t> withdrawn;  // RingMemory::withdrawn when the request was made
  // The place of a payload: PayloadIn::kRing, or which ping-pong buffer has it.
  std::atomic<uint32_t> payload_in;
};

struct alignas(kCacheLine) Cell {
  std::atomic<uint32_t> round;  // 1 + how often the ring has been round when this cell was written
  std::atomic<RingFrameKind> kind;
  std::atomic<uint64_t> tag;
  std::atomic<uint64_t> bytes;
  union {
    CellNumbers numbers;
    std::byte payload[kInlineBytes];
  };
};
static_assert(sizeof(Cell) == kCacheLine);

// Counts since the start, all written by the consumer.
struct alignas(kCacheLine) Credits {
  std::atomic<uint64_t> cells;    // number of cells taken out
  std::atomic<uint64_t> data;     // bytes of the data area freed
  std::atomic<uint64_t> matched;  // cost of the eager messages that have met their receive
  // The words of Routes::need_not_ask() and by_ring(), which are no counts.
  std::atomic<uint32_t> need_not_ask;
  std::atomic<uint32_t> by_ring;
};

struct RingMemory {
  Credits credits;
  // The producer's count of sends that it has taken back after it asked for them. What the consumer
  // read meanwhile may be anything.
  alignas(2 * kCacheLine) std::atomic<uint32_t> withdrawn;
  // The consumer's count of the longer frames that it has taken. The producer reads it only to see
  // how long that takes (adapt/distance.hpp). It lies so far from what the producer reads otherwise
  // that no prefetcher brings both.
  alignas(2048) std::atomic<uint32_t> taken;
  alignas(4096) Cell cells[kCells];
  // The data area follows.
};
inline constexpr uint64_t kRingHeadBytes = sizeof(RingMemory);  // enough for tiny messages
static_assert(kRingHeadBytes % 4096 == 0);

// The share of each ordered pair of so many ranks in so many bytes, rounded down to a power of two.
constexpr uint64_t share_of_pair(uint64_t bytes, uint64_t ranks) {
  return std::bit_floor(bytes / std::max<uint64_t>(ranks * (ranks - 1), 1));
}

// The part of each ring's data area that is used at first among so many ranks, a power of two. Few
// ranks get more, beyond the second-level caches if that is not too much in all. Lines that the
// peer has read come back faster from the third level than from the peer.
constexpr uint64_t ring_first_bytes(uint64_t ranks) {
  constexpr uint64_t kLeast = 128 << 10;
  constexpr uint64_t kMost = 2 << 20;
  constexpr uint64_t kOfAll = 12 << 20;
  return std::clamp(share_of_pair(kOfAll, ranks), kLeast, kMost);
}

// The whole data area, a power of two, too. Where cores are oversubscribed, longer messages let
// what is used grow so far (DataArea::reach_for). Until then it is no more than addresses.
constexpr uint64_t ring_data_bytes(uint64_t ranks) {
  constexpr uint64_t kMost = 1 << 20;
  constexpr uint64_t kOfAll = 256 << 20;
  return std::max(ring_first_bytes(ranks), std::min(share_of_pair(kOfAll, ranks), kMost));
}

// The longest message that need not ask first, and the longest piece of one that does, if so much
// of the data area is used. Several fit in there, so that one is read while the next is written. If
// cores are oversubscribed, though, each rank does as much as it can in its turn.
constexpr uint64_t most_at_once(uint64_t reach, bool oversubscribed) {
  constexpr uint64_t kFit = 8;
  constexpr uint64_t kFitIfOversubscribed = 2;
  return oversubscribed ? reach / kFitIfOversubscribed : std::max(reach / kFit, kEagerShmBytes);
}

// The bytes of the data area that such a payload takes.
constexpr uint64_t data_bytes_of(uint64_t payload) {
  return payload <= kInlineBytes ? 0 : whole_lines(payload);
}

}  // namespace tutti::shm
