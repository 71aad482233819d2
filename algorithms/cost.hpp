// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The terms of which cost formulas are made. p ranks, n bytes; alpha is a message's start, beta its
// time per byte, gamma the time to combine a byte; sigma (here sync_s) is the time in which all
// ranks on a host learn how far all others are.
#pragma once

#include <bit>

#include "algorithms/algorithm.hpp"

namespace tutti {

// sigma: the writer takes its line back, the readers fetch it; each reads one line per peer, the
// first at full latency, the others meanwhile.
inline double sync_s(const Problem& q, const Machine& m) {
  return 2 * m.line_s + (q.ranks - 1) * m.line_next_s;
}

// Writing into memory that others have read.
inline double stage_s(uint64_t bytes, const Machine& m) {
  return static_cast<double>(bytes) * m.takeover_s;
}

// Reading what other cores have written, in any number of runs.
inline double fetch_s(uint64_t bytes, const Machine& m) {
  return m.line_s + static_cast<double>(bytes) * m.handover_s;
}

// A copy within the cache.
inline double copy_s(uint64_t bytes, const Machine& m) {
  return static_cast<double>(bytes) * m.copy_cached_s;
}

// Getting the caller's data from its buffers and back, from memory if they do not fit the cache.
inline double buffers_s(const Problem& q, const Machine& m) {
  const auto blocks = static_cast<uint64_t>(q.ranks);
  const bool one_and_all =
      q.collective == Collective::kAllgather || q.collective == Collective::kReduceScatter;
  const uint64_t touched = q.bytes() * (one_and_all ? blocks + 1 : 2);
  const double per_byte = touched <= m.cache_bytes ? m.copy_cached_s : m.copy_memory_s;
  return static_cast<double>(touched) * per_byte / 2;  // a copy touches every byte twice
}

// alpha + n beta
inline double message_s(uint64_t bytes, const Machine& m) {
  return m.message_s + static_cast<double>(bytes) * m.message_byte_s;
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
