// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Peers that transfers await and of which nothing was ever heard. They may have left without a word
// (departures.hpp). So they are asked by an empty frame: then both have dealt with one another, or
// the network says that nobody is there.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/wait.hpp"
#include "transports/transport.hpp"

namespace tutti::frames {

class SilentPeers {
 public:
  explicit SilentPeers(int ranks) : peers_(static_cast<size_t>(ranks)) {}

  // A transfer waits for that rank, or for any.
  void await(int rank) {
    (rank == kAnySource ? anyone_ : peers_[static_cast<size_t>(rank)]).is_awaited = true;
  }
  // Counts a poll. Whether it is time to check which peers are awaited.
  bool count_poll_and_ask_if_due() {
    if (++polls_ % kPollsPerClock != 0) return false;
    const int64_t now = now_ms();
    if (now < next_check_ms_) return false;
    next_check_ms_ = now + kCheckMs;
    return true;
  }
  // Calls `ask(rank)` for those of whom `is_silent(rank)` that were awaited at the last check, too.
  // Returns whether they could be asked.
  void check(const auto& is_silent, const auto& ask) {
    const int ranks = static_cast<int>(peers_.size());
    for (int r = 0; r < ranks; ++r) {
      if (peers_[static_cast<size_t>(r)].count(is_silent(r)) % kChecksPerQuestion == 2) ask(r);
    }
    if (anyone_.count(true) < 2) return;
    int asked = 0;
    for (int i = 0; i < ranks && asked < kAskedAtOnce; ++i) {
      last_asked_ = (last_asked_ + 1) % ranks;
      if (is_silent(last_asked_) && ask(last_asked_)) ++asked;
    }
  }

 private:
  // A transfer that waited at the last check, too, has waited for long. Its peer is asked then, and
  // again after so many checks, as it may have left meanwhile.
  static constexpr int64_t kCheckMs = 100;
  static constexpr uint32_t kPollsPerClock = 64;
  static constexpr uint32_t kChecksPerQuestion = 10;
  // How many ranks are asked at a check for a receive from any of them: to reach all at once would
  // be what this avoids.
  static constexpr int kAskedAtOnce = 8;

  struct Awaited {
    bool is_awaited = false;  // somebody was found to wait for it since the last check
    uint32_t checks = 0;      // in a row at which it was
    uint32_t count(bool is_silent) {
      checks = std::exchange(is_awaited, false) && is_silent ? checks + 1 : 0;
      return checks;
    }
  };

  std::vector<Awaited> peers_;
  Awaited anyone_;
  uint32_t polls_ = 0;  // since the clock was read
  int64_t next_check_ms_ = 0;
  int last_asked_ = 0;  // last one asked of the ranks that a receive from any may wait for
};

}  // namespace tutti::frames
