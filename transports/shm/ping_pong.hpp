// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The ping-pong buffers between two ranks on one channel (transports/ping_pong.hpp): they take
// messages back and forth, besides the rings. A rank that has sent more than it has received has
// none, and uses the ring. docs/notes/02-routes-of-messages.md has figures.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "transports/ping_pong.hpp"
#include "transports/shm/ring.hpp"

namespace tutti::shm {

// How long the ping-pong buffers of each pair of so many ranks are: a power of two.
constexpr uint64_t ping_pong_bytes(uint64_t ranks) {
  constexpr uint64_t kLeast = 4 << 10;
  constexpr uint64_t kMost = 128 << 10;
  constexpr uint64_t kOfAll = 512 << 10;
  return std::clamp(share_of_pair(kOfAll, ranks), kLeast, kMost);
}

// Both buffers as one of the two ranks sees them.
class PingPongBuffers {
 public:
  PingPongBuffers() = default;
  // Buffer `own` is this rank's at first.
  PingPongBuffers(std::byte* first, std::byte* second, uint64_t bytes, uint32_t own)
      : memory_{first, second}, bytes_(bytes), turns_(own) {}

  // Whether a payload can go by one now.
  [[nodiscard]] bool can_take(uint64_t payload) const {
    return turns_.has_any() && payload <= bytes_;
  }
  [[nodiscard]] uint32_t give() { return turns_.give(); }
  // Whether so much can have come by that one.
  [[nodiscard]] bool can_have_come(uint32_t which, uint64_t payload) const {
    return which < kPingPongPieces && !turns_.has(which) && payload <= bytes_;
  }
  void take(uint32_t which) { turns_.take(which); }
  [[nodiscard]] std::byte* memory(uint32_t which) const { return memory_[which]; }

 private:
  std::byte* memory_[kPingPongPieces] = {};
  uint64_t bytes_ = 0;
  PingPong turns_;
};

}  // namespace tutti::shm
