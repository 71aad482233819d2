// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The terms of which cost formulas are made. p ranks, n bytes; alpha is a message's start, beta its
// time per byte, gamma the time to combine a byte; sigma (here sync_s) is the time in which all
// ranks on a host learn how far all others are.
#pragma once

#include <algorithm>
#include <bit>

#include "algorithms/algorithm.hpp"
#include "algorithms/messages.hpp"

namespace tutti {

// Lines that change caches: their writers take them back, the reader fetches them, the first at
// full latency, the others meanwhile. Where many read one line, they get it one after the other, so
// `lines` can be as well the number of readers.
inline double lines_s(int lines, const Machine& m) { return 2 * m.line_s + lines * m.line_next_s; }
// The same with lines of other domains.
inline double far_lines_s(int lines, const Machine& m) {
  return 2 * m.line_far_s + lines * m.line_far_next_s;
}

// sigma: each reads one line per peer. Who has the fewest peers in its domain has to wait longest.
inline double sync_s(const Problem& q, const Machine& m) {
  if (q.cache_domains == nullptr) return lines_s(q.ranks - 1, m);
  const int near = q.cache_domains->columns() - 1;
  return far_lines_s(q.ranks - 1 - near, m) + near * m.line_next_s;
}

// Writing into memory that others have read.
inline double stage_s(uint64_t bytes, const Machine& m) {
  return static_cast<double>(bytes) * m.takeover_s;
}

// Reading what other cores have written, in any number of runs.
inline double fetch_s(uint64_t bytes, const Machine& m) {
  return m.line_s + static_cast<double>(bytes) * m.handover_s;
}

// Both slots of a rank, which calls move through.
inline uint64_t both_slots(const Problem& q) { return q.limits.slots.moved_through_bytes(); }
// The part of what goes through slots that finds it in second-level caches: all, unless they are
// more than those of who writes and reads them hold.
inline double cached_in_slots(const Problem& q, const Machine& m) {
  return static_cast<uint64_t>(q.ranks - 1) * both_slots(q) < m.cache_bytes ? 1 : 0;
}
// The same of the root's slots alone, of which each of the others reads a part, and finds it in its
// caches as long as they hold that.
inline double cached_in_roots_slots(const Problem& q, const Machine& m) {
  const double readers = std::min(m.ranks_per_core, q.ranks - 1.0);
  return static_cast<double>(both_slots(q)) * readers / (q.ranks - 1) <
                 static_cast<double>(m.cache_bytes)
             ? 1
             : 0;
}
// The same of what goes through windows: every call begins where the last one did.
inline double cached_in_windows(const Problem& q, const Machine& m) {
  if (q.limits.window_bytes < m.cache_bytes) return 1;
  return std::min(1.0, static_cast<double>(q.limits.window_bytes) / 4 /
                           static_cast<double>(std::max<uint64_t>(q.bytes(), 1)));
}

// stage_s and fetch_s where that part of the staging is cached.
inline double stage_s(uint64_t bytes, double cached, const Machine& m) {
  return static_cast<double>(bytes) * (cached * m.takeover_s + (1 - cached) * m.walk_write_s);
}
inline double fetch_s(uint64_t bytes, double cached, const Machine& m) {
  const double per_byte = cached * m.handover_s + (1 - cached) * m.walk_read_s;
  return m.line_s + static_cast<double>(bytes) * per_byte;
}

// The same through slots, and through windows.
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

// All that a call may touch of the caller's memory.
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

// Getting `touched` bytes of the caller's buffers, and back, from memory if they do not fit the
// cache.
inline double touch_s(const Problem& q, uint64_t touched, const Machine& m) {
  const double per_byte = buffers_are_cached(q, m) ? m.copy_cached_s : m.copy_memory_s;
  return static_cast<double>(touched) * per_byte / 2;  // a copy touches every byte twice
}
inline double buffers_s(const Problem& q, const Machine& m) {
  return touch_s(q, buffer_bytes(q), m);
}

// Reading a buffer of a peer where it lies, which other ranks read as well: memory gives it to the
// first of them only.
inline double view_s(const Problem& q, uint64_t bytes, const Machine& m) {
  const double per_byte = buffers_are_cached(q, m) ? m.handover_s : m.walk_read_s;
  return static_cast<double>(bytes) * per_byte;
}

// pi + n pull: from the send buffer of a peer, which nobody has written since the last call at
// best.
inline double pull_s(const Problem& q, uint64_t bytes, const Machine& m) {
  if (q.limits.views) return view_s(q, bytes, m);
  const double per_byte = buffers_are_cached(q, m)            ? m.pull_cached_s
                          : q.bytes() < q.limits.stream_bytes ? m.pull_shared_s
                                                              : m.pull_memory_s;
  return m.pull_s + static_cast<double>(bytes) * per_byte;
}

// The same for what the peer has just written: from its second-level cache, if that holds it.
inline double pull_fresh_s(const Problem& q, uint64_t bytes, const Machine& m) {
  if (q.limits.views) return view_s(q, bytes, m);
  if (2 * bytes > m.cache_bytes) return pull_s(q, bytes, m);
  const double per_byte =
      q.bytes() < q.limits.stream_bytes ? m.pull_cached_s + m.handover_s : m.pull_memory_s;
  return m.pull_s + static_cast<double>(bytes) * per_byte;
}

// What one rank has to do for all others, and each of them for it, of which one gives and ends at
// once: one after the other if a call is alone, at the same time if calls follow one another; so
// something between. Where ranks share cores, what counts is the work of all shared among the
// cores, or the root's, which then has its core to itself.
inline double rooted_s(const Problem& q, double root, double each, const Machine& m) {
  if (m.ranks_per_core <= 1) return (root + each) * 3 / 4;
  return std::max(root / m.ranks_per_core, (root + (q.ranks - 1) * each) / q.ranks);
}

// Whether messages go between ranks that take turns on the cores of a host.
inline bool takes_turns(const Machine& m) { return m.ranks_per_core > 1 && m.host == nullptr; }

// The same of a message between the root and each other rank, where they take turns: a
// turn of all to send, one to take. Their rings are longer than second-level caches.
inline double rooted_messages_s(const Problem& q, double root_byte_s, double each_byte_s,
                                const Machine& m) {
  const auto bytes = static_cast<double>(q.bytes());
  const double root =
      (q.ranks - 1) * (m.message_s + bytes * root_byte_s) + touch_s(q, all_blocks_bytes(q), m);
  const double each = m.message_s + bytes * each_byte_s + touch_s(q, q.bytes(), m);
  return 2 * m.line_s + rooted_s(q, root, each, m);
}

// What a root pulls while the others sleep: they do not delay it with their turns.
inline double root_pull_s(double seconds, const Machine& m) { return seconds / m.ranks_per_core; }

// What a root does from the windows when the others have done their part: they sleep, so it has its
// core to itself. Not so while the data goes through memory: the others then take as long.
inline double root_s(const Problem& q, double seconds, const Machine& m) {
  return buffers_are_cached(q, m) ? seconds / m.ranks_per_core : seconds;
}

// alpha: between hosts three of them where a message is asked for first, and granted.
inline double start_s(uint64_t bytes, const Machine& m) {
  return m.host != nullptr && bytes > kUnaskedBytes ? 3 * m.message_s : m.message_s;
}

// alpha + n beta
inline double message_s(uint64_t bytes, const Machine& m) {
  return start_s(bytes, m) + static_cast<double>(bytes) * m.message_byte_s;
}

// What of alpha is time on the way, in which the next message can start: half of it between hosts.
inline double flight_s(const Machine& m) { return m.host != nullptr ? m.message_s / 2 : 0; }

// alpha + n beta of messages that do not wait for one another, and are all asked for at once.
// (Where it was measured, 3 messages are faster than 2 rounds, and 7 slower than 3; not so those of
// one root, see scatter_tree.cpp.)
inline double messages_s(int messages, uint64_t bytes, const Machine& m) {
  const double asking = start_s(bytes, m) - m.message_s;
  return flight_s(m) + asking + messages * (message_s(bytes, m) - asking - flight_s(m));
}

// With how many others a rank exchanges messages that cost: where ranks are on several hosts, what
// goes to those on its own is next to nothing beside the rest.
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
