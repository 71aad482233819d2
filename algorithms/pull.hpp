// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Common parts of algorithms that read the caller's buffers of their peers: every byte is copied
// once, not twice through staging.
#pragma once

#include "algorithms/common.hpp"
#include "core/tuned.hpp"

namespace tutti {

// The bytes that are pulled at a time to be combined, of all peers together. With fewer, there are
// more system calls; with more, less of them is still in a cache when they are combined.
using tuned::kPulledBytes;

inline uint64_t pulled_piece(const Problem& q) {
  const auto peers = static_cast<uint64_t>(std::max(1, q.ranks - 1));
  return std::max<uint64_t>(kPulledBytes / peers / 4096 * 4096, 4096);
}

// If all others read the root's buffer, waits until fewer than Limits::pull_readers of them do.
// Readers publish `done` after their read. Reading a process's memory locks its page tables: above
// some readers all get slower (Chakraborty, Subramoni, Panda, CLUSTER 2017). Readers come in the
// order of their distance from the root, so each waits for one only. Plain copies lock nothing.
inline void await_turn_to_pull(const Problem& q, Builder& b, uint32_t done) {
  const int readers = q.limits.pull_readers;
  const int turn = (q.rank - q.root + q.ranks) % q.ranks;  // the root's is 0, and not meant
  if (readers > 0 && turn > readers && !q.limits.maps_peers) b.await(rank_after(q, -readers), done);
}

// Whether what is pulled, or made of it, goes to the receive buffer past the caches: that pays
// where pulls are plain copies.
inline bool pulls_non_temporal(const Problem& q, uint64_t bytes) {
  return q.limits.maps_peers && stores_non_temporal(q, bytes);
}

// dst <- the reduction over all ranks of `bytes` at send_at(offset), piece by piece. Unless dst is
// where the own data is, or is written to past the caches, the nearest peer's lands there. If all
// see all buffers, it is read straight from there.
inline void reduce_by_pulling(const Problem& q, Builder& b, Ref dst, uint64_t offset,
                              uint64_t bytes, bool non_temporal) {
  if (q.limits.maps_peers) {
    const auto sources = one_of_each_rank(q, send_at(offset), Space::kPeerSend, offset);
    return b.reduce(dst, sources, bytes, true, non_temporal);
  }
  const uint64_t piece = std::min(pulled_piece(q), whole_lines(bytes));
  const int nearest = q.in_place || non_temporal ? q.rank : rank_after(q, 1);
  std::vector<Ref> sources(static_cast<size_t>(q.ranks));
  for_each_peer(q, [&](int peer) {
    if (peer != nearest) sources[static_cast<size_t>(peer)] = b.scratch(piece);
  });
  for (uint64_t done = 0; done < bytes; done += piece) {
    const uint64_t now = std::min(piece, bytes - done);
    sources[static_cast<size_t>(nearest)] = dst.plus(done);
    for_each_peer(q, [&](int peer) {
      b.pull(sources[static_cast<size_t>(peer)], Ref::of(Space::kPeerSend, offset + done, peer),
             now);
    });
    sources[static_cast<size_t>(q.rank)] = send_at(offset + done);
    b.reduce(dst.plus(done), sources, now, true, non_temporal);
  }
}

}  // namespace tutti
