// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/shm/long_messages.hpp"

#include <utility>

#include "core/clock.hpp"

namespace tutti::shm {
namespace {

// What oversubscribed ranks miss by a route of a message, besides its work. Measured with 4 and 8
// ranks on 2 cores: docs/notes/08-more-ranks-than-cores.md. To measure again: sendrecv, alltoall,
// gather and scatter of 64 KiB to 4 MiB, in small and in huge pages.
constexpr struct {
  // Factor. A rank that passes a message on piece by piece gives its core away after each piece,
  // and finds its caches used.
  double of_pieces = 1.25;
  // Factor. A rank that only receives, from several, leaves the cores of the senders idle while it
  // reads.
  double idle_senders = 1.5;
  // Bytes. A rank that sends as well makes several calls in one turn as long as the ring has room,
  // but not where its peers read. So many messages of up to this fit the ring ...
  uint64_t most_of_short_turns = 128 << 10;
  // Factor. ... that each read loses several turns.
  double turns_lost = 3;
  // Seconds. Of longer ones a read loses one turn.
  double turn_s = 4e-6;
} kWork;

}  // namespace

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
  took(from, rank, received.route, received.bytes, received.seconds(now));
}

// Oversubscribed ranks wait for each other's turns, in which others get on: of theirs, only the
// work counts, and what they miss by reading.
double LongMessages::work_of(const Peer& from, const Operation& receive,
                             Routes::Route route) const {
  const bool one_piece = receive.limit <= from.out.piece_bytes();
  if (route != Routes::Route::kRead) return receive.worked_s * (one_piece ? 1 : kWork.of_pieces);
  const bool from_several = last_from_ != receive.peer;
  if (!sent_since_) return receive.worked_s * (from_several ? kWork.idle_senders : 1);
  if (!one_piece) return receive.worked_s;
  const bool short_turns = receive.limit <= kWork.most_of_short_turns;
  return short_turns ? receive.worked_s * kWork.turns_lost : receive.worked_s + kWork.turn_s;
}

void LongMessages::took(Peer& from, int rank, Routes::Route route, uint64_t bytes, double seconds) {
  sent_since_ = false;
  last_from_ = rank;
  Routes& routes = routes_of(from);
  routes.took(route, bytes, seconds);
  from.in.tell(routes);
}

}  // namespace tutti::shm
