// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The two ends of a ring: each belongs to one thread of one process.
#pragma once

#include <algorithm>
#include <cstring>

#include "core/clock.hpp"
#include "core/distance.hpp"
#include "kernels/copy.hpp"
#include "transports/shm/ring.hpp"
#include "transports/shm/ways.hpp"

namespace tutti::shm {

class RingWriter {
 public:
  RingWriter() = default;
  RingWriter(RingMemory* memory, uint64_t data_bytes, Staging staging, bool crowded)
      : memory_(memory),
        area_(reinterpret_cast<std::byte*>(memory + 1)),
        area_bytes_(data_bytes),
        most_at_once_(most_at_once(data_bytes, crowded)),
        staging_(staging) {}

  // Whether a frame with so many bytes of payload fits now.
  [[nodiscard]] bool room(uint64_t payload) {
    if (fits(payload)) return true;
    refresh();
    return fits(payload);
  }
  // Cost of eager messages that have not met a receive yet, at most.
  [[nodiscard]] uint64_t unmatched(uint64_t tolerated) {
    if (eager_ - matched_ > tolerated) refresh();
    return eager_ - matched_;
  }
  void count_eager(uint64_t cost) { eager_ += cost; }
  // Whether a message of so many bytes may be sent without being asked for, if there is room.
  [[nodiscard]] bool may_be_eager(uint64_t bytes) const {
    if (bytes <= kEagerBytes) return true;
    return bytes <= most_at_once_ &&
           Ways::includes(memory_->credits.need_not_ask.load(std::memory_order_relaxed), bytes);
  }
  // Of a long message.
  [[nodiscard]] uint64_t piece_bytes() const { return most_at_once_; }
  // Whether the peer takes a message of so many bytes from here through the ring, or would.
  [[nodiscard]] bool peer_takes_by_ring(uint64_t bytes) const {
    return Ways::includes(memory_->credits.by_ring.load(std::memory_order_relaxed), bytes);
  }
  // A send that was asked for is taken back: its buffer may change as soon as this returns.
  void withdraw() {
    memory_->withdrawn.store(++withdrawn_, std::memory_order_relaxed);
    // Not std::atomic_thread_fence, which GCC refuses to build for ThreadSanitizer.
    __sync_synchronize();
  }
  // False once the consumer's counts make no sense; there is no room then.
  [[nodiscard]] bool sound() const { return sound_; }

  // The following need room().
  void put(FrameKind kind, uint64_t tag, uint64_t bytes, uint64_t id,
           const void* buffer = nullptr) {
    Cell& cell = memory_->cells[cells_ % kCells];
    cell.numbers.id.store(id, std::memory_order_relaxed);
    cell.numbers.address.store(reinterpret_cast<uint64_t>(buffer), std::memory_order_relaxed);
    cell.numbers.withdrawn.store(withdrawn_, std::memory_order_relaxed);
    commit(cell, kind, tag, bytes);
  }
  void put(FrameKind kind, uint64_t tag, const std::byte* payload, uint64_t bytes) {
    Cell& cell = memory_->cells[cells_ % kCells];
    if (bytes <= kInlineBytes) {
      if (bytes > 0) std::memcpy(cell.payload, payload, bytes);
    } else {
      const Stopwatch stopwatch(bytes > kEagerBytes);
      const uint64_t at = data_ & (area_bytes_ - 1);
      const uint64_t first = std::min(bytes, area_bytes_ - at);
      const bool past = bytes >= kLeastPastCaches && goes_past_caches(bytes);
      const CopyWay way = past ? CopyWay::kPastCaches : CopyWay::kToOthers;
      copy_bytes(area_ + at, payload, first, way);
      copy_bytes(area_, payload + first, bytes - first, way);
      cell.numbers.past_caches.store(past, std::memory_order_relaxed);
      data_ += data_bytes_of(bytes);
      const auto ns = static_cast<uint64_t>(stopwatch.seconds() * 1e9);
      cell.numbers.id.store(ns, std::memory_order_relaxed);
    }
    commit(cell, kind, tag, bytes);
  }

 private:
  [[nodiscard]] bool fits(uint64_t payload) const {
    return sound_ && cells_ - cells_taken_ < kCells &&
           data_ - data_freed_ + data_bytes_of(payload) <= area_bytes_;
  }
  bool goes_past_caches(uint64_t bytes) {
    if (staging_ != Staging::kAuto) return staging_ == Staging::kMemory;
    if (distance_.due(bytes)) {
      const uint32_t ticks = load_ticks(&memory_->taken);
      distance_.saw(ticks, memory_->taken.load(std::memory_order_relaxed));
    }
    return distance_.far();
  }
  void refresh() {
    const Credits& credits = memory_->credits;
    // Acquire: what the consumer read before must not see what is written next.
    cells_taken_ = credits.cells.load(std::memory_order_acquire);
    data_freed_ = credits.data.load(std::memory_order_acquire);
    matched_ = credits.matched.load(std::memory_order_relaxed);
    sound_ = sound_ && cells_ - cells_taken_ <= kCells && data_ - data_freed_ <= area_bytes_ &&
             matched_ <= eager_;
  }
  void commit(Cell& cell, FrameKind kind, uint64_t tag, uint64_t bytes) {
    cell.kind.store(kind, std::memory_order_relaxed);
    cell.tag.store(tag, std::memory_order_relaxed);
    cell.bytes.store(bytes, std::memory_order_relaxed);
    cell.stamp.store(static_cast<uint32_t>(cells_ / kCells) + 1, std::memory_order_release);
    ++cells_;
  }

  RingMemory* memory_ = nullptr;
  std::byte* area_ = nullptr;
  uint64_t area_bytes_ = 0;
  uint64_t most_at_once_ = 0;
  bool sound_ = true;
  uint64_t cells_ = 0;  // written
  uint64_t data_ = 0;
  uint64_t eager_ = 0;
  uint32_t withdrawn_ = 0;
  uint64_t cells_taken_ = 0;  // as last read from the credits
  uint64_t data_freed_ = 0;
  uint64_t matched_ = 0;
  Staging staging_ = Staging::kAuto;
  Distance distance_;  // of the consumer
};

// What a cell says, read once.
struct Frame {
  FrameKind kind;
  uint64_t tag;
  uint64_t bytes;
  uint64_t id;
  uint64_t address;
  uint32_t withdrawn;
};

class RingReader {
 public:
  RingReader() = default;
  RingReader(RingMemory* memory, uint64_t data_bytes)
      : memory_(memory),
        area_(reinterpret_cast<const std::byte*>(memory + 1)),
        area_bytes_(data_bytes) {}

  [[nodiscard]] bool ready() const {
    return cell().stamp.load(std::memory_order_acquire) ==
           static_cast<uint32_t>(cells_ / kCells) + 1;
  }
  // The following need ready().
  [[nodiscard]] Frame frame() const {
    const Cell& now = cell();
    // Comes while the frame is being looked at.
    if (now.bytes.load(std::memory_order_relaxed) > kInlineBytes) {
      __builtin_prefetch(area_ + (data_ & (area_bytes_ - 1)));
    }
    return {now.kind.load(std::memory_order_relaxed),
            now.tag.load(std::memory_order_relaxed),
            now.bytes.load(std::memory_order_relaxed),
            now.numbers.id.load(std::memory_order_relaxed),
            now.numbers.address.load(std::memory_order_relaxed),
            now.numbers.withdrawn.load(std::memory_order_relaxed)};
  }
  // Whether all buffers that were asked for since a request that says `withdrawn` were still the
  // message's when the reads before this call were made.
  [[nodiscard]] bool none_withdrawn_since(uint32_t withdrawn) const {
    __sync_synchronize();
    return memory_->withdrawn.load(std::memory_order_relaxed) == withdrawn;
  }
  // Whether an eager message can have so many bytes, and whether any frame's payload can.
  [[nodiscard]] bool can_be_eager(uint64_t bytes) const {
    return bytes <= most_at_once(area_bytes_, true);
  }
  [[nodiscard]] bool can_hold(uint64_t bytes) const { return bytes <= area_bytes_; }
  // Copies the first `wanted` of the frame's `bytes` of payload, which the ring can hold.
  void copy(void* dst, uint64_t bytes, uint64_t wanted, bool dst_past_caches = false) const {
    if (wanted == 0) return;
    if (bytes <= kInlineBytes) {
      std::memcpy(dst, cell().payload, wanted);
      return;
    }
    const uint64_t at = data_ & (area_bytes_ - 1);
    const uint64_t first = std::min(wanted, area_bytes_ - at);
    const bool from_memory = cell().numbers.past_caches.load(std::memory_order_relaxed) != 0;
    const CopyWay way = dst_past_caches ? CopyWay::kPastCaches
                        : from_memory   ? CopyWay::kFromMemory
                                        : CopyWay::kFromOthers;
    copy_bytes(dst, area_ + at, first, way);
    copy_bytes(static_cast<std::byte*>(dst) + first, area_, wanted - first, way);
  }
  // Takes the frame, whose payload had so many bytes, out of the ring.
  void pop(uint64_t payload) {
    ++cells_;
    data_ += data_bytes_of(payload);
    if (payload >= kLeastPastCaches) memory_->taken.store(++taken_, std::memory_order_relaxed);
    Credits& credits = memory_->credits;
    credits.data.store(data_, std::memory_order_release);
    credits.cells.store(cells_, std::memory_order_release);
  }
  void count_matched(uint64_t cost) {
    matched_ += cost;
    memory_->credits.matched.store(matched_, std::memory_order_relaxed);
  }
  void tell(const Ways& ways) {
    memory_->credits.need_not_ask.store(ways.need_not_ask(), std::memory_order_relaxed);
    memory_->credits.by_ring.store(ways.by_ring(), std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] const Cell& cell() const { return memory_->cells[cells_ % kCells]; }

  RingMemory* memory_ = nullptr;
  const std::byte* area_ = nullptr;
  uint64_t area_bytes_ = 0;
  uint64_t cells_ = 0;  // taken out
  uint64_t data_ = 0;
  uint64_t matched_ = 0;
  uint32_t taken_ = 0;  // longer frames
};

}  // namespace tutti::shm
