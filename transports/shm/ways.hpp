// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The two ways of a long message from one peer: read where it lies, which is one copy through the
// kernel, or through the ring, which is two and needs the sender to be there. Which is faster
// depends on the processor, on how far apart the two cores are (on a virtual machine that changes
// while a job runs) and on what the sender does meanwhile. So the receiver, whose choice it is,
// times them, by powers of two of the size, and takes the faster. While long messages go both ways
// between two ranks, reading holds up what this rank should put into the ring meanwhile, so that
// the ways would disturb each other's times: the higher rank then does as the lower one.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "core/rivals.hpp"

namespace tutti::shm {

class Ways {
 public:
  enum class Way : uint8_t { kRead, kRing };

  void give_up_reading() { can_read_ = false; }
  [[nodiscard]] bool can_read() const { return can_read_; }
  [[nodiscard]] Way better(uint64_t bytes) const {
    const bool read = can_read_ && rivals_[class_of(bytes)].better() == kRead;
    return read ? Way::kRead : Way::kRing;
  }
  // A message of so many bytes has taken so many seconds.
  void took(Way way, uint64_t bytes, double seconds) {
    const unsigned size = class_of(bytes);
    Rivals& rivals = rivals_[size];
    rivals.took(way == Way::kRead ? kRead : kRing, seconds / static_cast<double>(bytes));
    const bool ring = better(bytes) == Way::kRing;
    set(by_ring_, size, ring);
    set(need_not_ask_, size, ring && rivals.tried(kRing));
  }
  // The sizes, a bit each, at which the ring is the better way or is being tried.
  [[nodiscard]] uint32_t by_ring() const { return by_ring_; }
  // Of these, those at which it is tried for not the first time: a sender that has room need not
  // ask first, which makes the ring faster than it was then.
  [[nodiscard]] uint32_t need_not_ask() const { return need_not_ask_; }
  static bool includes(uint32_t sizes, uint64_t bytes) {
    return (sizes >> class_of(bytes) & 1) != 0;
  }

 private:
  // Of two ways that are not known, reading is tried first.
  static constexpr Rival kRead = Rival::kFirst;
  static constexpr Rival kRing = Rival::kSecond;

  static void set(uint32_t& sizes, unsigned size, bool on) {
    const uint32_t bit = uint32_t{1} << size;
    sizes = on ? sizes | bit : sizes & ~bit;
  }
  static unsigned class_of(uint64_t bytes) {
    return std::min<unsigned>(static_cast<unsigned>(std::bit_width(bytes)), 31);
  }

  std::array<Rivals, 32> rivals_{};
  uint32_t by_ring_ = 0;
  uint32_t need_not_ask_ = 0;
  bool can_read_ = true;
};

}  // namespace tutti::shm
