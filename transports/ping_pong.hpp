// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The turns of two ranks in two pieces of memory, A and B. They send data back and forth, and each
// writes next what it has read last. So it writes lines that its caches have. Memory that one rank
// alone writes must be fetched back from the peer first. At first each rank has one. Nobody asks or
// waits: each rank knows what it has from what came. Messages take turns so (shm/ping_pong.hpp),
// and so do the slots of calls (exec/slot_allocator.hpp).
#pragma once

#include <cstdint>

namespace tutti {

inline constexpr uint32_t kPingPongPieces = 2;

// Both pieces as one of the two ranks sees them.
class PingPong {
 public:
  PingPong() = default;  // has none
  explicit PingPong(uint32_t own) : held_(1U << own), latest_(own) {}

  [[nodiscard]] bool has_any() const { return held_ != 0; }
  [[nodiscard]] bool has(uint32_t which) const { return (held_ >> which & 1) != 0; }
  // Gives one away: that which came last, if it is still here.
  [[nodiscard]] uint32_t give() {
    const uint32_t which = has(latest_) ? latest_ : 1 - latest_;
    held_ &= ~(1U << which);
    return which;
  }
  void take(uint32_t which) {
    held_ |= 1U << which;
    latest_ = which;
  }
  // Exchanges when each rank has one: both give theirs and take the other's. Returns the piece that
  // it has then.
  uint32_t exchange() {
    latest_ = 1 - latest_;
    held_ = 1U << latest_;
    return latest_;
  }

 private:
  uint32_t held_ = 0;  // a bit for each
  uint32_t latest_ = 0;
};

}  // namespace tutti
