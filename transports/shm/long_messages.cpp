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

void LongMessages::has_come(Peer& from, const Operation& receive, Routes::Route route) {
  const int rank = receive.peer;
  if (oversubscribed_) return took(from, rank, route, receive.limit, work_of(from, receive, route));
  const double now = now_s();
  from.uncounted = {route, receive.limit, receive.begun_s, now};
  if (!from.has_sends()) settle(from, rank, now);
}

void LongMessages::settle(Peer& from, int rank, double now) {
  const Received received = *std::exchange(from.uncounted, std::nullopt);
  const double seconds = seconds_of(MessageSample{.read = received.route == Routes::Route::kRead,
                                                  .bytes = received.bytes,
                                                  .begun_s = received.begun_s,
                                                  .ended_s = received.ended_s,
                                                  .both_ended_s = now});
  took(from, rank, received.route, received.bytes, seconds);
}

double LongMessages::work_of(const Peer& from, const Operation& receive,
                             Routes::Route route) const {
  return seconds_of(MessageWork{.read = route == Routes::Route::kRead,
                                .bytes = receive.limit,
                                .worked_s = receive.worked_s,
                                .one_piece = receive.limit <= from.out.piece_bytes(),
                                .from_several = last_from_ != receive.peer,
                                .sent_since = sent_since_});
}

void LongMessages::took(Peer& from, int rank, Routes::Route route, uint64_t bytes, double seconds) {
  sent_since_ = false;
  last_from_ = rank;
  Routes& routes = routes_of(from);
  routes.took(route, bytes, seconds);
  from.in.tell(routes);
}

}  // namespace tutti::shm
