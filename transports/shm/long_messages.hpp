// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The routes by which the long messages of each peer come: it times them and takes the fastest
// (routes.hpp).
#pragma once

#include "transports/shm/peer.hpp"

namespace tutti::shm {

class LongMessages {
 public:
  explicit LongMessages(bool oversubscribed)
      : oversubscribed_(oversubscribed), routes_(oversubscribed) {}

  // Oversubscribed ranks stay on no core for long, so what one message tells holds for all.
  Routes& routes_of(Peer& peer) { return oversubscribed_ ? routes_ : peer.routes; }
  // The route by which a message from that peer comes; `higher`: the peer has a higher rank.
  [[nodiscard]] Routes::Route route_of(Peer& from, bool higher, uint64_t bytes);

  // This rank sends one.
  void sends(uint64_t bytes) { sent_since_ |= bytes > kEagerBytes; }
  // One that was asked for is here. If others go in the other direction meanwhile, it counts when
  // the first of these has gone, too (Received).
  void has_come(Peer& from, const Operation& receive, Routes::Route route);
  // A send to that peer that was asked for is over.
  void has_gone(Peer& to, int rank) {
    if (to.uncounted) [[unlikely]]
      settle(to, rank, now_s());
  }
  // One that was sent without asking is here.
  void took(Peer& from, int rank, Routes::Route route, uint64_t bytes, double seconds);

 private:
  void settle(Peer& from, int rank, double now);
  [[nodiscard]] double work_of(const Peer& from, const Operation& receive,
                               Routes::Route route) const;

  const bool oversubscribed_;
  Routes routes_;            // of all peers, where cores are oversubscribed
  bool sent_since_ = false;  // a long message, since it last received one
  int last_from_ = -1;       // the source of that one
};

}  // namespace tutti::shm
