// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The routes of a long message from one peer. Reading it where it lies is one copy through the
// kernel. The ring makes two copies and needs the sender to be there. Data that takes the ring may
// be written to the receive buffer past the caches. That pays for messages that the caches do not
// hold anyway, if other ranks leave them that much. The fastest route depends on the processor, on
// how far apart the two cores are, and on what the sender does meanwhile. On a virtual machine the
// distance changes while a job runs. So the receiver, whose choice it is, times them by powers of
// two of the size, and takes the fastest. If cores are oversubscribed, it compares how much work
// they are, for all peers together (adapt/sampler.hpp). Long messages may go in both directions
// between two ranks. Reading then holds up what this rank should put into the ring, so the routes
// would disturb each other's times. The higher rank then takes the route of the lower one.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "adapt/bandit.hpp"
#include "adapt/trial_policy.hpp"

namespace tutti::shm {

class Routes {
 public:
  enum class Route : uint8_t { kRead, kRing, kRingNonTemporal };

  explicit Routes(bool can_read = true) : can_read_(can_read) {
    for (unsigned size = 0; size < bandits_.size(); ++size) {
      const bool non_temporal = size >= class_of(kLeastReceivedNonTemporal);
      bandits_[size] = Bandit(non_temporal ? 3 : 2, trial_calls(uint64_t{1} << size >> 1));
    }
  }
  void give_up_reading() { can_read_ = false; }
  [[nodiscard]] bool can_read() const { return can_read_; }
  [[nodiscard]] Route better(uint64_t bytes) const {
    return can_read_ ? better_from(Route::kRead, bytes) : better_by_ring(bytes);
  }
  [[nodiscard]] Route better_by_ring(uint64_t bytes) const {
    return better_from(Route::kRing, bytes);
  }
  // A message of so many bytes has taken so many seconds.
  void took(Route route, uint64_t bytes, double seconds) {
    const unsigned size = class_of(bytes);
    Bandit& bandit = bandits_[size];
    bandit.took(arm(route), seconds / static_cast<double>(bytes));
    const bool ring = better(bytes) != Route::kRead;
    set(by_ring_, size, ring);
    set(need_not_ask_, size, ring && bandit.tried(arm(Route::kRing)));
  }
  // The sizes, a bit each, at which the ring is the better route or is being tried.
  [[nodiscard]] uint32_t by_ring() const { return by_ring_; }
  // The sizes of by_ring() at which the ring has been tried before. A sender that has room need not
  // ask first then, which makes the ring faster than it was.
  [[nodiscard]] uint32_t need_not_ask() const { return need_not_ask_; }
  static bool includes(uint32_t sizes, uint64_t bytes) {
    return (sizes >> class_of(bytes) & 1) != 0;
  }

 private:
  // The first is tried first.
  static Arm arm(Route route) { return static_cast<Arm>(route); }
  [[nodiscard]] Route better_from(Route route, uint64_t bytes) const {
    return static_cast<Route>(bandits_[class_of(bytes)].better(arm(route)));
  }
  static void set(uint32_t& sizes, unsigned size, bool on) {
    const uint32_t bit = uint32_t{1} << size;
    sizes = on ? sizes | bit : sizes & ~bit;
  }
  static unsigned class_of(uint64_t bytes) {
    return std::min<unsigned>(static_cast<unsigned>(std::bit_width(bytes)), 31);
  }

  std::array<Bandit, 32> bandits_{};
  uint32_t by_ring_ = 0;
  uint32_t need_not_ask_ = 0;
  bool can_read_;
};

// A message that has arrived, between ranks that have a core each. If another goes in the other
// direction meanwhile, it counts when both have arrived. The first one there has had more than its
// share of what they use (seconds_of_both).
struct UncountedMessage {
  Routes::Route route = Routes::Route::kRead;
  uint64_t bytes = 0;
  double begun_s = 0;  // when it met its receive
  double ended_s = 0;
};

}  // namespace tutti::shm
