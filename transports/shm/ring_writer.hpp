// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The end of a ring that its sender writes, in one thread.
#pragma once

#include <algorithm>
#include <cstring>

#include "adapt/distance.hpp"
#include "core/clock.hpp"
#include "core/prefetch.hpp"
#include "kernels/copy.hpp"
#include "transports/shm/ping_pong.hpp"
#include "transports/shm/ring.hpp"
#include "transports/shm/routes.hpp"

namespace tutti::shm {

// Frames that fit in before the ring begins anew, as long as it can grow.
inline constexpr uint64_t kFramesInReach = 8;

// The data area of a ring, as its sender fills it: round after round, up to a reach that grows.
class DataArea {
 public:
  DataArea() = default;
  // An area of `bytes`, of which `first` are used at first.
  DataArea(uint64_t first, uint64_t bytes, bool oversubscribed)
      : bytes_(bytes),
        first_(first),
        most_at_once_(shm::most_at_once(oversubscribed ? bytes : first, oversubscribed)),
        grows_(oversubscribed) {}
  void lie_in(std::byte* memory) { memory_ = memory; }

  // The longest message that may go without asking, and the piece of a longer one.
  [[nodiscard]] uint64_t most_at_once() const { return most_at_once_; }
  // Whether as much is used as a frame with so many bytes needs. At first it has no memory at all.
  [[nodiscard]] bool reaches(uint64_t payload) const { return payload <= longest_; }
  // How much that is, for a frame no longer than most_at_once().
  [[nodiscard]] uint64_t reach_for(uint64_t payload) const {
    uint64_t reach = std::max(first_, reach_);
    while (longest_in(reach) < payload) reach *= 2;
    return reach;
  }
  // Notes that so much of it has memory now.
  void extend(uint64_t reach) {
    reach_ = reach;
    longest_ = longest_in(reach);
  }

  [[nodiscard]] bool has_room(uint64_t payload) const {
    return begin_of(payload) - freed_ + data_bytes_of(payload) <= bytes_;
  }
  // Takes the next place for such a payload, and says where it begins (CellNumbers::where).
  uint64_t take(uint64_t payload) {
    const uint64_t begin = begin_of(payload);
    written_ = begin + data_bytes_of(payload);
    return begin;
  }
  [[nodiscard]] std::byte* at(uint64_t begin) const { return memory_ + (begin & (bytes_ - 1)); }
  // The receiver has freed so much since the start; false if that makes no sense.
  bool note_freed(uint64_t freed) {
    freed_ = freed;
    return written_ - freed_ <= bytes_;
  }

 private:
  // Several frames fit in, as long as it can grow.
  [[nodiscard]] uint64_t longest_in(uint64_t reach) const {
    return grows_ && reach < bytes_ ? reach / kFramesInReach : most_at_once_;
  }
  // The beginning of the next payload of so many bytes: behind the last, or in the next round.
  [[nodiscard]] uint64_t begin_of(uint64_t payload) const {
    const uint64_t at = written_ & (bytes_ - 1);
    const bool fits_behind = at + data_bytes_of(payload) <= reach_;
    return data_bytes_of(payload) == 0 || fits_behind ? written_ : written_ - at + bytes_;
  }

  std::byte* memory_ = nullptr;
  uint64_t bytes_ = 0;
  uint64_t first_ = 0;
  uint64_t reach_ = 0;
  uint64_t longest_ = 0;  // the longest frame that fits in `reach_`
  uint64_t most_at_once_ = 0;
  uint64_t written_ = 0;  // bytes written since the start
  uint64_t freed_ = 0;    // bytes freed, as last read from the credits
  bool grows_ = false;
};

class RingWriter {
 public:
  RingWriter() = default;
  // Writes into a ring with that data area. `ping_pong`, as the reader of the ring from that peer
  // has them, outlive it.
  RingWriter(const DataArea& area, PingPongBuffers& ping_pong, StoreTarget store_target)
      : area_(area), ping_pong_(&ping_pong), store_target_(store_target) {}

  // Says where the ring lies, before anything that looks there.
  void lie_in(RingMemory* memory) {
    memory_ = memory;
    area_.lie_in(reinterpret_cast<std::byte*>(memory + 1));
  }
  [[nodiscard]] DataArea& area() { return area_; }
  [[nodiscard]] const DataArea& area() const { return area_; }

  // Whether a frame with so many bytes of payload fits now.
  [[nodiscard]] bool room(uint64_t payload) {
    if (fits(payload)) return true;
    refresh();
    return fits(payload);
  }
  // The cost of eager messages that have not met a receive yet, at most.
  [[nodiscard]] uint64_t unmatched(uint64_t tolerated) {
    if (eager_ - matched_ > tolerated) refresh();
    return eager_ - matched_;
  }
  void count_eager(uint64_t cost) { eager_ += cost; }
  // Whether a message of so many bytes may be sent without being asked for, if there is room.
  [[nodiscard]] bool may_be_eager(uint64_t bytes) const {
    if (bytes <= kEagerShmBytes) return true;
    return bytes <= area_.most_at_once() &&
           Routes::includes(memory_->credits.need_not_ask.load(std::memory_order_relaxed), bytes);
  }
  // Whether the peer takes a message of so many bytes from here through the ring, or would.
  [[nodiscard]] bool peer_takes_by_ring(uint64_t bytes) const {
    return Routes::includes(memory_->credits.by_ring.load(std::memory_order_relaxed), bytes);
  }
  // A send that was asked for is taken back: its buffer may change as soon as this returns.
  void withdraw() {
    memory_->withdrawn.store(++withdrawn_, std::memory_order_relaxed);
    // GCC refuses to build std::atomic_thread_fence for ThreadSanitizer.
    __sync_synchronize();
  }
  // Whether the consumer's counts make sense; else there is no room.
  [[nodiscard]] bool sound() const { return sound_; }

  // The following need room().
  void put(RingFrameKind kind, uint64_t tag, uint64_t bytes, uint64_t id,
           const void* buffer = nullptr) {
    Cell& cell = memory_->cells[cells_ % kCells];
    cell.numbers.id.store(id, std::memory_order_relaxed);
    cell.numbers.where.store(reinterpret_cast<uint64_t>(buffer), std::memory_order_relaxed);
    cell.numbers.withdrawn.store(withdrawn_, std::memory_order_relaxed);
    commit(cell, kind, tag, bytes);
  }
  void put(RingFrameKind kind, uint64_t tag, const std::byte* payload, uint64_t bytes) {
    Cell& cell = memory_->cells[cells_ % kCells];
    if (bytes <= kInlineBytes) {
      if (bytes > 0) std::memcpy(cell.payload, payload, bytes);
    } else {
      const Stopwatch stopwatch(bytes > kEagerShmBytes);
      cell.numbers.payload_in.store(stage(cell, payload, bytes), std::memory_order_relaxed);
      const auto ns = static_cast<uint64_t>(stopwatch.seconds() * 1e9);
      cell.numbers.id.store(ns, std::memory_order_relaxed);
    }
    commit(cell, kind, tag, bytes);
  }

 private:
  // Not inlined: a payload that lies in the cell is sent with fewer instructions.
  [[gnu::noinline]] uint32_t stage(Cell& cell, const std::byte* payload, uint64_t bytes) {
    if (ping_pong_->can_take(bytes)) {
      const uint32_t which = ping_pong_->give();
      copy_bytes(ping_pong_->memory(which), payload, bytes, CopyHint::kTemporal);
      return PayloadIn::kPingPong + which;
    }
    const uint64_t begin = area_.take(bytes);
    const bool past = bytes >= kLeastStagedNonTemporal && choose_non_temporal(bytes);
    copy_bytes(area_.at(begin), payload, bytes,
               past ? CopyHint::kNonTemporal : CopyHint::kTemporal);
    cell.numbers.where.store(begin, std::memory_order_relaxed);
    return PayloadIn::kRing;
  }

  [[nodiscard]] bool fits(uint64_t payload) const {
    return sound_ && cells_ - cells_taken_ < kCells &&
           (ping_pong_->can_take(payload) || area_.has_room(payload));
  }
  bool choose_non_temporal(uint64_t bytes) {
    if (store_target_ != StoreTarget::kAuto) return store_target_ == StoreTarget::kMemory;
    if (distance_.count_and_ask_if_due(bytes)) {
      const uint32_t cycles = load_cycles(&memory_->taken);
      distance_.saw(cycles, memory_->taken.load(std::memory_order_relaxed));
    }
    return distance_.far();
  }
  void refresh() {
    const Credits& credits = memory_->credits;
    // Acquire: what the consumer read before must not see what is written next.
    cells_taken_ = credits.cells.load(std::memory_order_acquire);
    const uint64_t freed = credits.data.load(std::memory_order_acquire);
    matched_ = credits.matched.load(std::memory_order_relaxed);
    sound_ =
        area_.note_freed(freed) && sound_ && cells_ - cells_taken_ <= kCells && matched_ <= eager_;
  }
  void commit(Cell& cell, RingFrameKind kind, uint64_t tag, uint64_t bytes) {
    cell.kind.store(kind, std::memory_order_relaxed);
    cell.tag.store(tag, std::memory_order_relaxed);
    cell.bytes.store(bytes, std::memory_order_relaxed);
    cell.round.store(static_cast<uint32_t>(cells_ / kCells) + 1, std::memory_order_release);
    ++cells_;
    // The next line to write is taken from the peer now, which costs nothing while it is awaited.
    prefetch_to_write(&memory_->cells[cells_ % kCells]);
  }

  RingMemory* memory_ = nullptr;
  DataArea area_;
  PingPongBuffers* ping_pong_ = nullptr;
  uint64_t cells_ = 0;  // number of cells written
  uint64_t eager_ = 0;
  uint64_t cells_taken_ = 0;  // cells taken out, as last read from the credits
  uint64_t matched_ = 0;
  uint32_t withdrawn_ = 0;
  bool sound_ = true;
  StoreTarget store_target_ = StoreTarget::kAuto;
  Distance distance_;  // of the consumer
};

}  // namespace tutti::shm
