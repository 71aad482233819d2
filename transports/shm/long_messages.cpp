// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/shm/long_messages.hpp"

#include <utility>

#include "core/clock.hpp"

namespace tutti::shm {

Ways::Way LongMessages::way_of(Peer& from, bool higher, uint64_t bytes) {
  const Ways& ways = ways_of(from);
  if (!from.has_sends() || higher || !ways.can_read()) return ways.better(bytes);
  return from.out.peer_takes_by_ring(bytes) ? ways.better_by_ring(bytes) : Ways::Way::kRead;
}

void LongMessages::has_come(Peer& from, const Operation& receive, Ways::Way way) {
  const int rank = receive.peer;
  if (oversubscribed_) return took(from, rank, way, receive.limit, work_of(from, receive, way));
  const double now = now_s();
  from.uncounted = {way, receive.limit, receive.begun_s, now};
  if (!from.has_sends()) settle(from, rank, now);
}

void LongMessages::settle(Peer& from, int rank, double now) {
  const Received received = *std::exchange(from.uncounted, std::nullopt);
  took(from, rank, received.way, received.bytes, received.seconds(now));
}

// How much work a message has been. Ranks that share cores wait for each other's turns, in which
// others get on: of theirs, only the work counts, and what they miss by reading.
double LongMessages::work_of(const Peer& from, const Operation& receive, Ways::Way way) const {
  const bool fits = receive.limit <= from.out.piece_bytes();
  // Who passes on piece by piece gives its core away after each, and finds its caches used. Without
  // this, 4 ranks on 2 cores that pass on 4 MiB in huge pages did so by both ways, as each of them
  // happened to have found out: 0.77 ms, where reading alone takes 0.54 and the ring 0.92.
  constexpr double kPieces = 1.25;
  if (way != Ways::Way::kRead) return receive.worked_s * (fits ? 1 : kPieces);
  // Who only receives, from several, leaves the cores of the others idle by reading.
  constexpr double kWorkNotShared = 1.5;
  const bool from_several = last_from_ != receive.peer;
  if (!sent_since_) return receive.worked_s * (from_several ? kWorkNotShared : 1);
  if (!fits) return receive.worked_s;
  // Who sends as well makes several calls in one turn where messages fit the ring, but not where
  // peers read them: on 2 cores, 8 ranks that pass on 128 KiB took 1.7 times as long where every
  // fourth message was read that was less work to read. Of longer ones the ring holds so few that
  // only the turn itself is lost: where neighbours are on different cores and pages are huge, 4
  // ranks that pass on 256 KiB then take 31 us instead of 48, 8 ranks 64 instead of 84.
  constexpr uint64_t kMostOfMany = 128 << 10;
  constexpr double kTurnsLost = 3;
  constexpr double kTurn_s = 4e-6;
  const bool many = receive.limit <= kMostOfMany;
  return many ? receive.worked_s * kTurnsLost : receive.worked_s + kTurn_s;
}

void LongMessages::took(Peer& from, int rank, Ways::Way way, uint64_t bytes, double seconds) {
  sent_since_ = false;
  last_from_ = rank;
  Ways& ways = ways_of(from);
  ways.took(way, bytes, seconds);
  from.in.tell(ways);
}

}  // namespace tutti::shm
