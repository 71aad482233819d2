// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What a rank cannot read in a peer's memory, the peer hands over. That ranks can read one another
// is found out when they meet (pull.hpp); it may end later (a filter of system calls) or not hold
// for some memory (of a device, or of memfd_secret(2)). The rank that wants the bytes writes down
// what, piece by piece; their owner, which stays in the call until it has been read from, looks
// after such wishes while it waits and puts each piece into the tray of the rank that asked.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>

#include "core/status.hpp"
#include "transports/shm/layout.hpp"
#include "transports/shm/region.hpp"

namespace tutti::shm {

// Of one rank and lane. A rank has at most one wish at a time.
class HandOver {
 public:
  HandOver(const Region& region, const Layout& layout, int lane, int rank)
      : region_(region), layout_(layout), lane_(lane), rank_(rank) {}

  // Called with the same arguments, and Transport::notify() after each call, until it returns true:
  // then `dst` is filled.
  Result<bool> ask(int owner, std::byte* dst, uint64_t address, uint64_t bytes);
  // Puts what peers wish into their trays; returns whether there was anything. A load if there is
  // nothing.
  bool answer();

 private:
  Status wish(int owner, uint64_t address, uint64_t bytes);
  [[nodiscard]] int fill_tray(int asker, uint64_t address, uint64_t bytes);
  Result<const Mapping*> tray_of(int rank);
  [[nodiscard]] WishLines& lines(int rank) const {
    return *region_.at<WishLines>(layout_.wishes(rank, lane_));
  }

  const Region& region_;
  const Layout& layout_;
  const int lane_;
  const int rank_;
  uint32_t wishes_ = 0;           // of this rank so far
  uint64_t received_ = 0;         // of what it wishes now
  bool waiting_ = false;          // for a piece
  uint32_t looked_at_ = 0;        // of the wishes of others
  std::map<int, Mapping> trays_;  // by rank, as far as they were needed
};

}  // namespace tutti::shm
