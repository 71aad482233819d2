// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Which rails to the peers of an endpoint are lost, and the breaks of connections about which
// something is yet to be done. The connections to a peer that dies or leaves break at once. So
// nothing is done about one of them before the others had time to.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/status.hpp"

namespace tutti::frames {

class RailLosses {
 public:
  struct Break {
    int rank;
    uint32_t rail;
    int64_t since_ms;
    Status why;
  };
  // What there is to do about a break.
  enum class Due : uint8_t {
    kNothing,  // nothing is due yet
    kLoseRail,
    kWarn,  // the rail is lost: the user is told
    kLosePeer,
  };

  RailLosses(int ranks, uint32_t rails) : rails_(rails), lost_(static_cast<size_t>(ranks)) {}

  // Lets rails stand in for one another from now on.
  void mend() { mends_ = true; }
  [[nodiscard]] bool mends() const { return mends_; }

  [[nodiscard]] bool lost(int rank, uint32_t rail) const { return (bits(rank) >> rail & 1) != 0; }
  [[nodiscard]] uint32_t lost_of(int rank) const {
    return static_cast<uint32_t>(std::popcount(bits(rank)));
  }
  // Whether another rail of the peer may break, and it has one left.
  [[nodiscard]] bool may_lose_one(int rank) const { return mends_ && lost_of(rank) + 1 < rails_; }
  // The wanted rail if it is left, else one that is; the number of rails if none is.
  [[nodiscard]] uint32_t left(int rank, uint32_t wanted) const {
    for (uint32_t turn = 0; turn < rails_; ++turn) {
      const uint32_t rail = (wanted + turn) % rails_;
      if (!lost(rank, rail)) return rail;
    }
    return rails_;
  }
  // The rail is lost, of which the user is to be told. False: it was lost before.
  bool lose(int rank, uint32_t rail, const Status& why);

  // The connection over a rail has broken.
  void note_break(int rank, uint32_t rail, const Status& why);
  // The breaks so far. Each about which nothing is due goes back by defer().
  std::vector<Break> take_breaks() { return std::exchange(breaks_, {}); }
  void defer(const Break& one) { breaks_.push_back(one); }
  [[nodiscard]] bool has_breaks() const { return !breaks_.empty(); }
  // What is due about one of `all` the breaks.
  [[nodiscard]] Due due(const Break& one, std::span<const Break> all, int64_t now) const;

 private:
  [[nodiscard]] uint64_t bits(int rank) const { return lost_[static_cast<size_t>(rank)]; }
  [[nodiscard]] bool none_left(int rank, std::span<const Break> all) const;

  const uint32_t rails_;
  bool mends_ = false;
  std::vector<uint64_t> lost_;  // lost rails by rank: a bit for each rail
  std::vector<Break> breaks_;
};

}  // namespace tutti::frames
