// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The routes by which the long messages of each peer come: it times them and takes the fastest
// (routes.hpp).
#pragma once

#include "transports/shm/peer.hpp"

namespace tutti::shm {

class LongMessages {
 public:
  // `can_read`: the memory of other ranks.
  LongMessages(bool oversubscribed, bool can_read)
      : oversubscribed_(oversubscribed), can_read_(can_read) {}

  // Oversubscribed ranks stay on no core for long, so what one message tells holds for all.
  Routes& routes_of(Peer& peer) {
    std::unique_ptr<Routes>& routes = oversubscribed_ ? routes_ : peer.routes;
    if (routes == nullptr) [[unlikely]]
      routes = std::make_unique<Routes>(can_read_);
    return *routes;
  }
  // The route by which a message from that peer comes; `higher`: the peer has a higher rank.
  [[nodiscard]] Routes::Route route_of(Peer& from, bool higher, uint64_t bytes);

  // A message that was asked for is here. If others go in the other direction meanwhile, it counts
  // when the first of these has gone, too (UncountedMessage).
  void note_received(Peer& from, const PendingTransfer& receive, Routes::Route route);
  // A send to that peer that was asked for is over.
  void note_sent(Peer& to) {
    if (to.uncounted) [[unlikely]]
      settle(to, now_s());
  }
  // A message that was sent without asking is here, by the ring.
  void took_by_ring(Peer& from, uint64_t bytes, double seconds) {
    took(from, Routes::Route::kRing, bytes, seconds);
  }

 private:
  void settle(Peer& from, double now);
  void took(Peer& from, Routes::Route route, uint64_t bytes, double seconds);

  const bool oversubscribed_;
  const bool can_read_;
  std::unique_ptr<Routes> routes_;  // of all peers, where cores are oversubscribed
};

}  // namespace tutti::shm
