// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Memory that ranks of one host share besides messages.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/slot_plan.hpp"
#include "core/status.hpp"
#include "core/wait.hpp"
#include "transports/notes.hpp"
#include "transports/recovery.hpp"

namespace tutti {

// A rank's entry into a call, in one number so that it can be read at any time. With less alignment
// clang 14 calls libatomic for it.
struct alignas(8) CallEntry {
  uint32_t call;   // number of the call on this lane
  uint32_t chain;  // of the signatures of all calls up to it
};

// A rank's entry into a call: written by the rank, read by all. A rank has kCallLines of them. It
// uses kFewCallLines in turn, or all if ranks share cores (exec/call_log.hpp). Lines lie apart,
// because processors fetch lines in pairs.
struct alignas(2 * kCacheLine) CallLine {
  std::atomic<CallEntry> entry;  // the payload precedes it
  std::byte payload[56];
};
static_assert(sizeof(CallLine) == 2 * kCacheLine && std::atomic<CallEntry>::is_always_lock_free);

inline constexpr uint32_t kCallLines = 64;

// How far a rank is: a count of ticks over all calls of the lane.
struct alignas(kCacheLine) ProgressLine {
  std::atomic<uint32_t> tick;
};

// Sizes that all ranks agree on.
struct LaneMemorySizes {
  SlotPlan slots;
  uint64_t window_bytes = 0;
};

// One lane's shared memory: every rank's lines, slots and window, at addresses of this process.
class LaneMemory {
 public:
  struct Rank {
    CallLine* calls;      // array of kCallLines
    RecordLine* records;  // array of kCallLines
    ProgressLine* progress;
    const Departure* departure;
    // Null until they are mapped, which happens for those of all ranks at once.
    std::byte* slots[2];
    std::byte* ping_pong;  // a slot that another rank writes when its turn has come
    std::byte* window;     // chunks of long calls
  };
  // Always the same ones.
  [[nodiscard]] virtual std::span<const Rank> ranks() const = 0;
  [[nodiscard]] virtual LaneMemorySizes sizes() const = 0;
  // Map the windows or the slots of all ranks, which the transport leaves out until it is needed.
  // Local; any number of times.
  virtual Status map_windows() { return {}; }
  virtual Status map_slots() { return {}; }
  // Gets the memory of this rank's window, which is mapped. It comes before the first write there,
  // so that a lack of memory is an error and not a SIGBUS.
  virtual Status reserve_window() { return {}; }
  // Gets the memory of the first `bytes` of each of this rank's slots.
  virtual Status reserve_slots(uint64_t /*bytes*/) { return {}; }
  // Gets the memory of the ping-pong slots of all ranks, which it maps first.
  virtual Status reserve_ping_pong(uint64_t /*bytes*/) { return {}; }
  // Whether an address of the process of `rank` (this one included) is in memory that it got from
  // SharedMemory::allocate(). All ranks come to the same answer; and if it is yes for some
  // address of each of them, all have all of these mapped().
  [[nodiscard]] virtual bool is_shared(int /*rank*/, uint64_t /*address*/) const { return false; }
  // The address at which this process reads a peer's memory; null if that is not shared, or if this
  // rank has never called allocate().
  [[nodiscard]] virtual const std::byte* mapped(int /*rank*/, uint64_t /*address*/,
                                                uint64_t /*bytes*/) const {
    return nullptr;
  }
  // Copies from an address of the process of `rank`; only if SharedMemory::can_pull().
  virtual Status pull(int rank, void* dst, uint64_t address, uint64_t bytes) = 0;
  // Copies what pull() could not: asks `rank` for it. The caller repeats it with the same arguments
  // until it returns true, while `rank` calls serve_fallback_copy(). One such copy at a time.
  virtual Result<bool> ask_for(int rank, void* dst, uint64_t address, uint64_t bytes) = 0;
  // Gives peers what they ask for, anything that this process can read; returns whether any did.
  virtual bool serve_fallback_copy() = 0;
  virtual ~LaneMemory() = default;
};

// All that they share.
class SharedMemory {
 public:
  // The memory of lane `lane`. Local.
  virtual Result<std::unique_ptr<LaneMemory>> open_lane_memory(int lane) = 0;
  // Whether ranks can read one another's memory: the same on all.
  [[nodiscard]] virtual bool can_pull() const = 0;
  // Memory for buffers of this rank which its peers map, zeroed and present. It is aligned to
  // huge pages (2 MiB) from one of them on, and to pages below. Null if there is none to be had. It
  // goes with the transport. One thread at a time.
  virtual void* allocate(uint64_t bytes) = 0;
  virtual void free(void* memory) = 0;
  // Whether there can ever be any, on all ranks alike.
  [[nodiscard]] virtual bool can_map_peers() const = 0;

 protected:
  ~SharedMemory() = default;  // a transport owns it
};

}  // namespace tutti
