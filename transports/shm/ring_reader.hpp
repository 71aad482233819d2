// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The end of a ring that its receiver reads, in one thread.
#pragma once

#include <cstring>

#include "kernels/copy.hpp"
#include "transports/shm/ping_pong.hpp"
#include "transports/shm/ring.hpp"
#include "transports/shm/routes.hpp"

namespace tutti::shm {

// A cell's content, read once.
struct RingFrame {
  RingFrameKind kind;
  uint64_t tag;
  uint64_t bytes;
  uint64_t id;
  uint64_t where;
  uint32_t withdrawn;
  uint32_t payload_in;  // if there is a payload outside of the cell

  [[nodiscard]] bool in_ping_pong() const { return payload_in >= PayloadIn::kPingPong; }
  [[nodiscard]] uint32_t ping_pong() const { return payload_in - PayloadIn::kPingPong; }
};

class RingReader {
 public:
  RingReader() = default;
  RingReader(uint64_t data_bytes, PingPongBuffers& ping_pong)
      : area_bytes_(data_bytes), ping_pong_(&ping_pong) {}

  // Says where the ring lies, before anything else.
  void lie_in(RingMemory* memory) {
    memory_ = memory;
    area_ = reinterpret_cast<const std::byte*>(memory + 1);
  }

  [[nodiscard]] bool ready() const {
    return cell().round.load(std::memory_order_acquire) ==
           static_cast<uint32_t>(cells_ / kCells) + 1;
  }
  // The following need ready().
  [[nodiscard]] RingFrame frame() const {
    const Cell& now = cell();
    const RingFrame frame{now.kind.load(std::memory_order_relaxed),
                          now.tag.load(std::memory_order_relaxed),
                          now.bytes.load(std::memory_order_relaxed),
                          now.numbers.id.load(std::memory_order_relaxed),
                          now.numbers.where.load(std::memory_order_relaxed),
                          now.numbers.withdrawn.load(std::memory_order_relaxed),
                          now.numbers.payload_in.load(std::memory_order_relaxed)};
    // The payload comes while the frame is being looked at.
    const bool somewhere = !frame.in_ping_pong() || frame.ping_pong() < kPingPongBuffers;
    if (frame.bytes > kInlineBytes && somewhere) __builtin_prefetch(payload_of(frame));
    return frame;
  }
  // Whether all buffers that were asked for since a request that says `withdrawn` were still the
  // message's when the reads before this call were made.
  [[nodiscard]] bool none_withdrawn_since(uint32_t withdrawn) const {
    __sync_synchronize();
    return memory_->withdrawn.load(std::memory_order_relaxed) == withdrawn;
  }
  // Whether there can be such an eager message, and whether the ring can hold any frame's payload.
  [[nodiscard]] bool can_be_eager(const RingFrame& frame) const {
    return frame.bytes <= most_at_once(area_bytes_, true) && can_hold(frame);
  }
  [[nodiscard]] bool can_hold(const RingFrame& frame) const {
    if (frame.bytes <= kInlineBytes) return true;
    if (frame.in_ping_pong()) return ping_pong_->can_have_come(frame.ping_pong(), frame.bytes);
    return frame.bytes <= area_bytes_ && end_of(frame) <= area_bytes_;
  }
  // The end of a frame's payload in the data area.
  [[nodiscard]] uint64_t end_of(const RingFrame& frame) const {
    return at(frame.where) + frame.bytes;
  }
  // Copies the first `wanted` bytes of the payload of such a frame.
  void copy(void* dst, const RingFrame& frame, uint64_t wanted,
            bool dst_non_temporal = false) const {
    if (wanted == 0) return;
    if (frame.bytes <= kInlineBytes) {
      std::memcpy(dst, cell().payload, wanted);
      return;
    }
    copy_bytes(dst, payload_of(frame), wanted,
               dst_non_temporal ? CopyHint::kNonTemporal : CopyHint::kTemporal);
  }
  // Takes the frame out of the ring; the second, one without payload.
  void pop(const RingFrame& frame) {
    if (frame.bytes > kInlineBytes) {
      if (frame.in_ping_pong()) {
        ping_pong_->take(frame.ping_pong());
      } else {
        data_ = frame.where + data_bytes_of(frame.bytes);
      }
    }
    if (frame.bytes >= kLeastStagedNonTemporal)
      memory_->taken.store(++taken_, std::memory_order_relaxed);
    pop();
  }
  void pop() {
    ++cells_;
    Credits& credits = memory_->credits;
    credits.data.store(data_, std::memory_order_release);
    credits.cells.store(cells_, std::memory_order_release);
  }
  void count_matched(uint64_t cost) {
    matched_ += cost;
    memory_->credits.matched.store(matched_, std::memory_order_relaxed);
  }
  void tell(const Routes& routes) {
    memory_->credits.need_not_ask.store(routes.need_not_ask(), std::memory_order_relaxed);
    memory_->credits.by_ring.store(routes.by_ring(), std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] const Cell& cell() const { return memory_->cells[cells_ % kCells]; }
  [[nodiscard]] uint64_t at(uint64_t where) const { return where & (area_bytes_ - 1); }
  [[nodiscard]] const std::byte* payload_of(const RingFrame& frame) const {
    return frame.in_ping_pong() ? ping_pong_->memory(frame.ping_pong()) : area_ + at(frame.where);
  }

  RingMemory* memory_ = nullptr;
  const std::byte* area_ = nullptr;
  uint64_t area_bytes_ = 0;
  PingPongBuffers* ping_pong_ = nullptr;
  uint64_t cells_ = 0;  // number of cells taken out
  uint64_t data_ = 0;   // bytes of the data area freed
  uint64_t matched_ = 0;
  uint32_t taken_ = 0;  // number of longer frames taken out
};

}  // namespace tutti::shm
