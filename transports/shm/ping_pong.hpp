// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The ping-pong buffers between two ranks on one channel: they take messages back and forth,
// besides the rings. Each rank writes next what it has read last. So it writes lines that its
// caches have; memory that one rank alone writes must be fetched back from the peer first. Nobody
// asks or waits: each rank knows what it has from what came. A rank that has sent more than it has
// received has none, and uses the ring. docs/notes/02-routes-of-messages.md has figures.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "transports/shm/ring.hpp"

namespace tutti::shm {

// How long the ping-pong buffers of each pair of so many ranks are: a power of two.
constexpr uint64_t ping_pong_bytes(uint64_t ranks) {
  constexpr uint64_t kLeast = 4 << 10;
  constexpr uint64_t kMost = 128 << 10;
  constexpr uint64_t kOfAll = 512 << 10;
  return std::clamp(share_of_pair(kOfAll, ranks), kLeast, kMost);
}

inline constexpr uint32_t kPingPongBuffers = 2;

// Both buffers as one of the two ranks sees them.
class PingPongBuffers {
 public:
  PingPongBuffers() = default;
  // Buffer `own` is this rank's at first.
  PingPongBuffers(std::byte* first, std::byte* second, uint64_t bytes, uint32_t own)
      : memory_{first, second}, bytes_(bytes), held_(1U << own), latest_(own) {}

  // Whether a payload can go by one now.
  [[nodiscard]] bool can_take(uint64_t payload) const { return held_ != 0 && payload <= bytes_; }
  // Gives one away: that which came last, if it is still here.
  [[nodiscard]] uint32_t give() {
    const uint32_t which = has(latest_) ? latest_ : 1 - latest_;
    held_ &= ~(1U << which);
    return which;
  }
  // Whether so much can have come by that one.
  [[nodiscard]] bool can_have_come(uint32_t which, uint64_t payload) const {
    return which < kPingPongBuffers && !has(which) && payload <= bytes_;
  }
  void take(uint32_t which) {
    held_ |= 1U << which;
    latest_ = which;
  }
  [[nodiscard]] std::byte* memory(uint32_t which) const { return memory_[which]; }

 private:
  [[nodiscard]] bool has(uint32_t which) const { return (held_ >> which & 1) != 0; }

  std::byte* memory_[kPingPongBuffers] = {};
  uint64_t bytes_ = 0;
  uint32_t held_ = 0;  // a bit for each buffer that is held
  uint32_t latest_ = 0;
};

}  // namespace tutti::shm
