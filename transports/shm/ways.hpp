// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The two ways of a long message from one peer: read where it lies, which is one copy through the
// kernel, or through the ring, which is two and needs the sender to be there. Which is faster
// depends on the processor, on how far apart the two cores are (on a virtual machine that changes
// while a job runs) and on what the sender does meanwhile. So the receiver, whose choice it is,
// times them, by powers of two of the size, and takes the faster. What it has not taken for long it
// believes to have become faster, a little with each message, until it is tried again: the slower
// the other way, the more seldom.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace tutti::shm {

class Ways {
 public:
  enum class Way : uint8_t { kRead, kRing };

  void give_up_reading() { can_read_ = false; }
  // Not yet known is the fastest; of two such ways, reading.
  [[nodiscard]] Way better(uint64_t bytes) const {
    const Estimates& estimates = estimates_[class_of(bytes)];
    const bool read = can_read_ && estimates.read.hoped() <= estimates.ring.hoped();
    return read ? Way::kRead : Way::kRing;
  }
  // A message of so many bytes has taken so many seconds.
  void took(Way way, uint64_t bytes, double seconds) {
    const unsigned size = class_of(bytes);
    Estimates& estimates = estimates_[size];
    (way == Way::kRead ? estimates.read : estimates.ring).add(seconds / static_cast<double>(bytes));
    (way == Way::kRead ? estimates.ring : estimates.read).hope *= kHope;
    const uint32_t bit = uint32_t{1} << size;
    const bool ring = estimates.ring.rate != 0 && better(bytes) == Way::kRing;
    need_not_ask_ = ring ? need_not_ask_ | bit : need_not_ask_ & ~bit;
  }
  // The sizes, a bit each, at which the ring is known to be the better way: a sender that has room
  // need not ask first.
  [[nodiscard]] uint32_t need_not_ask() const { return need_not_ask_; }
  static bool includes(uint32_t sizes, uint64_t bytes) {
    return (sizes >> class_of(bytes) & 1) != 0;
  }

 private:
  static constexpr double kWeight = 0.5;  // of the newest, in the estimate
  static constexpr double kMostOfOne = 2;
  static constexpr double kHope = 255.0 / 256;

  struct Estimate {
    double rate = 0;  // seconds per byte; 0: not yet known
    double hope = 1;  // what part of that it may have become since
    [[nodiscard]] double hoped() const { return rate * hope; }
    void add(double newest) {
      // No single message that was held up, by whatever else runs there, counts for more than a
      // few.
      rate = rate == 0 ? newest : rate + (std::min(newest, kMostOfOne * rate) - rate) * kWeight;
      hope = 1;
    }
  };
  struct Estimates {
    Estimate read;
    Estimate ring;
  };
  static unsigned class_of(uint64_t bytes) {
    return std::min<unsigned>(static_cast<unsigned>(std::bit_width(bytes)), 31);
  }

  std::array<Estimates, 32> estimates_{};
  uint32_t need_not_ask_ = 0;
  bool can_read_ = true;
};

}  // namespace tutti::shm
