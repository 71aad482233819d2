// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The fallback where a rank cannot read a peer's memory: the peer copies. Ranks find out whether
// they can read one another when they meet (pull.hpp). That may end later (a filter of system
// calls), or not hold for some memory (of a device, or of memfd_secret(2)). The rank that wants the
// bytes requests them piece by piece. Their owner stays in the call until it has been read from.
// While it waits it looks after such requests, and puts each piece into the buffer of the rank that
// asked.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>

#include "core/status.hpp"
#include "transports/shm/layout.hpp"
#include "transports/shm/region.hpp"

namespace tutti::shm {

// The fallback of one rank and lane. A rank has at most one request at a time.
class FallbackCopy {
 public:
  FallbackCopy(const Region& region, const Layout& layout, int lane, int rank)
      : region_(region), layout_(layout), lane_(lane), rank_(rank) {}

  // Asks `owner` for its memory. To be called with the same arguments until it returns true: then
  // `dst` is filled. Transport::notify() follows each call.
  Result<bool> ask(int owner, std::byte* dst, uint64_t address, uint64_t bytes);
  // Puts what peers request into their buffers; returns whether there was anything. A load if there
  // is nothing.
  bool answer();

 private:
  Status request(int owner, uint64_t address, uint64_t bytes);
  [[nodiscard]] int fill_buffer(int asker, uint64_t address, uint64_t bytes);
  Result<const Mapping*> buffer_of(int rank);
  [[nodiscard]] FallbackLines& lines(int rank) const {
    return *region_.at<FallbackLines>(layout_.fallback_lines(rank, lane_));
  }

  const Region& region_;
  const Layout& layout_;
  const int lane_;
  const int rank_;
  uint32_t requests_ = 0;                    // of this rank so far
  uint64_t received_ = 0;                    // bytes received of the current request
  bool waiting_ = false;                     // whether it waits for a piece
  uint32_t looked_at_ = 0;                   // the last request of others that was looked at
  std::map<int, Mapping> fallback_buffers_;  // buffers by rank, as far as they were needed
};

}  // namespace tutti::shm
