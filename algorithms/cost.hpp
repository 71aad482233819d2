// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The terms of which cost formulas are made, in seconds. p is the number of ranks and n that of
// bytes. alpha is the start of a message and beta its time per byte (message_s), gamma the time to
// combine a byte (combine_s). pi is the start of a pull (pull_s). sigma is the time in which all
// ranks on a host learn how far all others are (sync_s).
#pragma once

#include <algorithm>
#include <bit>

#include "algorithms/algorithm.hpp"
#include "algorithms/messages.hpp"

namespace tutti {

// Lines that go from the cache of their writer to that of a reader. The writer takes each back
// before; the reader fetches the first at full latency and the others meanwhile. Many readers of
// one line get it one after the other, so `lines` may also be the number of readers.
inline double lines_s(int lines, const Machine& m) { return 2 * m.line_s + lines * m.line_next_s; }
// The time of lines from a core with another last-level cache.
inline double far_lines_s(int lines, const Machine& m) {
  return 2 * m.line_far_s + lines * m.line_far_next_s;
}

// sigma: each rank reads one line per peer. The rank with the fewest peers in its domain waits
// longest.
inline double sync_s(const Problem& q, const Machine& m) {
  if (q.cache_domains == nullptr) return lines_s(q.ranks - 1, m);
  const int near = q.cache_domains->columns() - 1;
  return far_lines_s(q.ranks - 1 - near, m) + near * m.line_next_s;
}

// Writing into staging: memory that others have read.
inline double stage_s(uint64_t bytes, const Machine& m) {
  return static_cast<double>(bytes) * m.takeover_s;
}

// Reading from staging what other cores have written, in any number of pieces.
inline double fetch_s(uint64_t bytes, const Machine& m) {
  return m.line_s + static_cast<double>(bytes) * m.handover_s;
}

// The bytes of both slots of a rank that calls move through.
inline uint64_t both_slots(const Problem& q) { return q.limits.slots.moved_through_bytes(); }
// The part of slots' data that is found in second-level caches: all of it if the slots of a rank's
// peers fit one, else nothing.
inline double cached_in_slots(const Problem& q, const Machine& m) {
  return static_cast<uint64_t>(q.ranks - 1) * both_slots(q) < m.cache_bytes ? 1 : 0;
}
// cached_in_slots() for the root's slots alone. Each other rank reads a part of them, and finds it
// in its cache if that part fits.
inline double cached_in_roots_slots(const Problem& q, const Machine& m) {
  const double readers = std::min(m.ranks_per_core, q.ranks - 1.0);
  return static_cast<double>(both_slots(q)) * readers / (q.ranks - 1) <
                 static_cast<double>(m.cache_bytes)
             ? 1
             : 0;
}
// The part of what goes through windows that is found in caches. Every call begins at the same
// place in a window.
inline double cached_in_windows(const Problem& q, const Machine& m) {
  if (q.limits.window_bytes < m.cache_bytes) return 1;
  return std::min(1.0, static_cast<double>(q.limits.window_bytes) / 4 /
                           static_cast<double>(std::max<uint64_t>(q.bytes(), 1)));
}

// stage_s and fetch_s where so large a part of the staging is cached.
inline double stage_s(uint64_t bytes, double cached, const Machine& m) {
  return static_cast<double>(bytes) * (cached * m.takeover_s + (1 - cached) * m.walk_write_s);
}
inline double fetch_s(uint64_t bytes, double cached, const Machine& m) {
  const double per_byte = cached * m.handover_s + (1 - cached) * m.walk_read_s;
  return m.line_s + static_cast<double>(bytes) * per_byte;
}

// The times of writing and reading through slots, and through windows.
inline double slot_write_s(const Problem& q, uint64_t bytes, const Machine& m) {
  return stage_s(bytes, cached_in_slots(q, m), m);
}
inline double slot_read_s(const Problem& q, uint64_t bytes, const Machine& m) {
  return fetch_s(bytes, cached_in_slots(q, m), m);
}
inline double window_write_s(const Problem& q, uint64_t bytes, const Machine& m) {
  return stage_s(bytes, cached_in_windows(q, m), m);
}
inline double window_read_s(const Problem& q, uint64_t bytes, const Machine& m) {
  return fetch_s(bytes, cached_in_windows(q, m), m);
}

// A copy within the cache.
inline double copy_s(uint64_t bytes, const Machine& m) {
  return static_cast<double>(bytes) * m.copy_cached_s;
}

// The bytes of the caller's memory that a call may touch.
inline uint64_t buffer_bytes(const Problem& q) {
  const BufferBlocks blocks = blocks_of(q.collective, true);
  const auto count = [&](Blocks of) {
    return of == Blocks::kPerRank ? static_cast<uint64_t>(q.ranks) : 1;
  };
  return q.bytes() * (count(blocks.send) + count(blocks.recv));
}

// Whether the caller's data stays in the second-level cache from call to call.
inline bool buffers_are_cached(const Problem& q, const Machine& m) {
  return buffer_bytes(q) <= m.cache_bytes;
}

// Reading and writing `touched` bytes of the caller's buffers, which come from memory if all of
// them together do not fit the cache.
inline double touch_s(const Problem& q, uint64_t touched, const Machine& m) {
  const double per_byte = buffers_are_cached(q, m) ? m.copy_cached_s : m.copy_memory_s;
  return static_cast<double>(touched) * per_byte / 2;  // a copy touches every byte twice
}
inline double buffers_s(const Problem& q, const Machine& m) {
  return touch_s(q, buffer_bytes(q), m);
}

// Reading a buffer of a peer where it lies (Limits::maps_peers). Other ranks read it as well, so
// only the first of them gets it from memory.
inline double mapped_read_s(const Problem& q, uint64_t bytes, const Machine& m) {
  const double per_byte = buffers_are_cached(q, m) ? m.handover_s : m.walk_read_s;
  return static_cast<double>(bytes) * per_byte;
}

// pi + n pull: from the send buffer of a peer, which at best has not been written since the last
// call.
inline double pull_s(const Problem& q, uint64_t bytes, const Machine& m) {
  if (q.limits.maps_peers) return mapped_read_s(q, bytes, m);
  const double per_byte = buffers_are_cached(q, m)                  ? m.pull_cached_s
                          : q.bytes() < q.limits.non_temporal_bytes ? m.pull_shared_s
                                                                    : m.pull_memory_s;
  return m.pull_s + static_cast<double>(bytes) * per_byte;
}

// A pull of what the peer has just written: from its second-level cache, if that holds it.
inline double pull_fresh_s(const Problem& q, uint64_t bytes, const Machine& m) {
  if (q.limits.maps_peers) return mapped_read_s(q, bytes, m);
  if (2 * bytes > m.cache_bytes) return pull_s(q, bytes, m);
  const double per_byte =
      q.bytes() < q.limits.non_temporal_bytes ? m.pull_cached_s + m.handover_s : m.pull_memory_s;
  return m.pull_s + static_cast<double>(bytes) * per_byte;
}

// A call with a root: `root` is the work of the root for all others, `each` that of each of these.
// The side that gives ends at once. So both work one after the other in a single call, and at the
// same time in calls in a row. The cost is between the two. If ranks share cores, it is the work of
// all, divided by the cores. Or it is that of the root, which then has its core to itself.
inline double rooted_s(const Problem& q, double root, double each, const Machine& m) {
  if (m.ranks_per_core <= 1) return (root + each) * 3 / 4;
  return std::max(root / m.ranks_per_core, (root + (q.ranks - 1) * each) / q.ranks);
}

// Whether messages go between ranks that take turns on the cores of a host.
inline bool takes_turns(const Machine& m) { return m.ranks_per_core > 1 && m.host == nullptr; }

// A message between the root and each other rank, where ranks take turns on cores: one turn of all
// to send, one to take. Their rings are longer than second-level caches.
inline double rooted_messages_s(const Problem& q, double root_byte_s, double each_byte_s,
                                const Machine& m) {
  const auto bytes = static_cast<double>(q.bytes());
  const double root =
      (q.ranks - 1) * (m.message_s + bytes * root_byte_s) + touch_s(q, all_blocks_bytes(q), m);
  const double each = m.message_s + bytes * each_byte_s + touch_s(q, q.bytes(), m);
  return 2 * m.line_s + rooted_s(q, root, each, m);
}

// A root that pulls while the others sleep: it has its core to itself.
inline double root_pull_s(double seconds, const Machine& m) { return seconds / m.ranks_per_core; }

// The work of a root on windows after the others have done their part: they sleep, so it has its
// core to itself. If the data goes through memory this does not help, for memory is the limit.
inline double root_s(const Problem& q, double seconds, const Machine& m) {
  return buffers_are_cached(q, m) ? seconds / m.ranks_per_core : seconds;
}

// alpha. Between hosts it is three times that for a message that is asked for and granted first.
inline double start_s(uint64_t bytes, const Machine& m) {
  return m.host != nullptr && bytes > kUnaskedBytes ? 3 * m.message_s : m.message_s;
}

// alpha + n beta
inline double message_s(uint64_t bytes, const Machine& m) {
  return start_s(bytes, m) + static_cast<double>(bytes) * m.message_byte_s;
}

// The part of alpha in which the message is on its way and the next one can start: half of it
// between hosts.
inline double flight_s(const Machine& m) { return m.host != nullptr ? m.message_s / 2 : 0; }

// alpha + n beta of messages that do not wait for one another, and are all asked for at once.
// (Where it was measured, 3 messages are faster than 2 rounds, and 7 slower than 3; not so those of
// one root, see scatter_tree.cpp.)
inline double messages_s(int messages, uint64_t bytes, const Machine& m) {
  const double asking = start_s(bytes, m) - m.message_s;
  return flight_s(m) + asking + messages * (message_s(bytes, m) - asking - flight_s(m));
}

// (p-1) (alpha + n beta): a message for each other rank, or one around a ring.
inline double one_by_one_s(const Problem& q, const Machine& m) {
  return (q.ranks - 1) * message_s(q.bytes(), m) + buffers_s(q, m);
}

// The number of ranks to which messages cost something: where ranks are on several hosts, those on
// the rank's own host do not count.
inline int peers_by_messages(const Problem& q) {
  return q.ranks - (q.hosts == nullptr ? 1 : q.hosts->columns());
}

// n gamma
inline double combine_s(uint64_t bytes, const Machine& m) {
  return static_cast<double>(bytes) * m.reduce_s;
}

// ceil(log2 p)
inline int rounds_of(int ranks) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1)));
}

// n (p-1)/p
inline uint64_t all_but_own(const Problem& q, uint64_t bytes) {
  return bytes - bytes / static_cast<uint64_t>(q.ranks);
}

}  // namespace tutti
