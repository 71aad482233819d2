// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/shm/long_messages.hpp"

#include <utility>

#include "adapt/sampler.hpp"
#include "core/clock.hpp"

namespace tutti::shm {

Routes::Route LongMessages::route_of(Peer& from, bool higher, uint64_t bytes) {
  const Routes& routes = routes_of(from);
  if (!from.has_sends() || higher || !routes.can_read()) return routes.better(bytes);
  return from.out.peer_takes_by_ring(bytes) ? routes.better_by_ring(bytes) : Routes::Route::kRead;
}

void LongMessages::note_received(Peer& from, const PendingTransfer& receive, Routes::Route route) {
  if (oversubscribed_) return took(from, route, receive.limit, receive.worked_s);
  const double now = now_s();
  from.uncounted = {route, receive.limit, receive.begun_s, now};
  if (!from.has_sends()) settle(from, now);
}

void LongMessages::settle(Peer& from, double now) {
  const UncountedMessage received = *std::exchange(from.uncounted, std::nullopt);
  took(from, received.route, received.bytes,
       seconds_of_both(received.begun_s, received.ended_s, now));
}

void LongMessages::took(Peer& from, Routes::Route route, uint64_t bytes, double seconds) {
  Routes& routes = routes_of(from);
  routes.took(route, bytes, seconds);
  from.in.tell(routes);
}

}  // namespace tutti::shm
