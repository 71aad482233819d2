// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Common parts of algorithms: places in buffers, sizes of parts, copies of the own block, and
// conditions (Applies).
#pragma once

#include <concepts>
#include <vector>

#include "algorithms/algorithm.hpp"

namespace tutti {

inline Ref send_at(uint64_t offset) { return Ref::of(Space::kSend, offset); }
inline Ref recv_at(uint64_t offset) { return Ref::of(Space::kRecv, offset); }

inline int parts_of_at_most(uint64_t bytes, uint64_t part_bytes) {
  return static_cast<int>((bytes + part_bytes - 1) / part_bytes);
}

// The rank `distance` after (or before, if negative) this one; |distance| <= ranks.
inline int rank_after(const Problem& q, int distance) {
  return (q.rank + distance + q.ranks) % q.ranks;
}

// Visits the other ranks. Each rank begins with another one, so that few read the buffer of one
// rank at a time.
template <typename Visit>
void for_each_peer(const Problem& q, Visit visit) {
  for (int i = 1; i < q.ranks; ++i) visit(rank_after(q, i));
}

// The length of so many blocks together.
inline uint64_t blocks_bytes(const Problem& q, int blocks) {
  return static_cast<uint64_t>(blocks) * q.bytes();
}
// The length of a buffer of `ranks` blocks.
inline uint64_t all_blocks_bytes(const Problem& q) { return blocks_bytes(q, q.ranks); }
inline uint64_t block_at(const Problem& q, int rank) {
  return static_cast<uint64_t>(rank) * q.stride_bytes();
}
inline Ref at_send(const Range& block) { return send_at(block.offset); }
inline Ref at_recv(const Range& block) { return recv_at(block.offset); }

// The offset of block `rank` in staging that holds all blocks without gaps.
inline uint64_t packed_at(const Problem& q, int rank) { return blocks_bytes(q, rank); }

// How many blocks lie before that of `owner` where `writer` has put the blocks of all other ranks
// side by side, without its own.
inline uint64_t blocks_before(int owner, int writer) {
  return static_cast<uint64_t>(owner > writer ? owner - 1 : owner);
}
// The offset of that block in a shared space of the writer, and the length of all blocks there.
inline uint64_t left_at(const Problem& q, int owner, int writer) {
  return blocks_before(owner, writer) * q.bytes();
}
inline uint64_t others_blocks_bytes(const Problem& q) { return all_blocks_bytes(q) - q.bytes(); }

// Whether so many bytes for the receive buffer are written past the caches (non-temporal stores).
inline bool stores_non_temporal(const Problem& q, uint64_t bytes) {
  return bytes >= q.limits.non_temporal_bytes;
}

// One source per rank in rank order: this rank's own, the others' at offset_of(rank) of a shared
// space.
template <std::invocable<int> OffsetOf>
std::vector<Ref> one_of_each_rank(const Problem& q, Ref own, Space space, OffsetOf offset_of) {
  std::vector<Ref> sources;
  for (int rank = 0; rank < q.ranks; ++rank) {
    sources.push_back(rank == q.rank ? own : Ref::of(space, offset_of(rank), rank));
  }
  return sources;
}
inline std::vector<Ref> one_of_each_rank(const Problem& q, Ref own, Space space, uint64_t offset) {
  return one_of_each_rank(q, own, space, [=](int) { return offset; });
}

// Shorter blocks may still lie in a core's part of the last-level cache.
inline constexpr uint64_t kLeastKeptNonTemporal = 12 << 20;

// Whether the copy of a rank's own block goes past the caches. Long ones do while calls still try
// kinds of stores. The blocks of peers come by other routes meanwhile, so neither would find the
// data of the other in the caches.
inline bool own_block_non_temporal(const Problem& q, uint64_t block, uint64_t received) {
  return stores_non_temporal(q, received) ||
         (q.limits.tries_non_temporal && block >= kLeastKeptNonTemporal);
}

// Allgather, and gather at the root: copies the rank's own block, or a part of it, to its place.
inline void copy_of_own_block(const Problem& q, Builder& b, Range part) {
  if (q.in_place) return;
  b.copy(at_recv(q.recv_block(q.rank)).plus(part.offset), send_at(part.offset), part.bytes,
         own_block_non_temporal(q, q.bytes(), all_blocks_bytes(q)));
}
inline void copy_own_block(const Problem& q, Builder& b) {
  copy_of_own_block(q, b, q.send_block(0));
}

// Alltoall: copies the block that a rank has for itself.
inline void copy_block_to_self(const Problem& q, Builder& b) {
  if (q.in_place) return;
  b.copy(recv_at(block_at(q, q.rank)), send_at(block_at(q, q.rank)), q.bytes(),
         own_block_non_temporal(q, q.bytes(), all_blocks_bytes(q)));
}

// The place of arriving data while others still read what this rank gives. In an alltoall in place
// the blocks for them lie there: so it waits in private memory. Peers need not know.
class Arrivals {
 public:
  Arrivals(const Problem& q, Builder& b)
      : b_(b), wait_(q.in_place && exchanges_blocks(q.collective)) {}

  Ref place_for(const Range& block) {
    if (!wait_) return at_recv(block);
    waiting_.push_back({at_recv(block), b_.scratch(block.bytes), block.bytes});
    return waiting_.back().from;
  }
  // Peers have pulled what this rank gives, if they do so. Its sends are waited for here.
  void land(bool non_temporal = false) {
    if (wait_) b_.fence();
    for (const Arrived& each : waiting_) b_.copy(each.to, each.from, each.bytes, non_temporal);
  }

 private:
  struct Arrived {
    Ref to;
    Ref from;
    uint64_t bytes;
  };
  Builder& b_;
  const bool wait_;
  std::vector<Arrived> waiting_;
};

// Copies a rank's block for itself: block `from` of its send buffer is block `to` of its receive
// buffer.
inline void keep_block(const Problem& q, Builder& b, int from, int to) {
  if (q.in_place) return;
  const uint64_t bytes = q.recv_block(to).bytes;
  b.copy(at_recv(q.recv_block(to)), at_send(q.send_block(from)), bytes,
         own_block_non_temporal(q, bytes, bytes));
}

// Reduce-scatter, alltoall, scatter: copies the blocks of all other ranks to left_at() of a shared
// space of this rank.
inline void stage_others_blocks(const Problem& q, Builder& b, Space space) {
  const auto stage = [&](int first, uint64_t bytes) {
    b.copy(Ref::of(space, left_at(q, first, q.rank), q.rank), at_send(q.send_block(first)), bytes);
  };
  if (q.stride == q.count && q.layouts.send.counts.empty()) {
    stage(0, blocks_bytes(q, q.rank));
    stage(q.rank + 1, blocks_bytes(q, q.ranks - q.rank - 1));
    return;
  }
  for (int owner = 0; owner < q.ranks; ++owner) {
    if (owner != q.rank) stage(owner, q.send_block(owner).bytes);
  }
}

inline Applies always(const Problem&) { return {}; }

inline Applies shares_memory(const Problem& q) {
  if (!q.limits.slots.shared()) return {false, "the ranks share no memory"};
  return {};
}

inline Applies can_pull(const Problem& q) {
  if (const Applies shares = shares_memory(q); !shares.yes) return shares;
  if (q.limits.pulls) return {};
  if (q.limits.pulls_few)
    return {false, "ranks that share cores do not read one another's buffers (TUTTI_SHM_PULL=1)"};
  return {false, "the ranks do not read one another's buffers (TUTTI_SHM_PULL)"};
}

// Whether it can pull if ranks know the sizes of their own blocks only.
inline Applies can_pull_blocks(const Problem& q) {
  if (const Applies pulls = can_pull(q); !pulls.yes) return pulls;
  if (!q.limits.exports_blocks)
    return {false, "the ranks do not know where peers have their blocks"};
  return {};
}

inline Applies fits_line(const Problem& q, uint64_t bytes) {
  if (const Applies shares = shares_memory(q); !shares.yes) return shares;
  if (bytes > kLineBytes) return {false, "over 56 bytes of payload"};
  return {};
}

inline Applies fits(const Problem& q, uint64_t bytes, uint64_t slot_bytes) {
  if (const Applies shares = shares_memory(q); !shares.yes) return shares;
  if (bytes > slot_bytes) return {false, "longer than a slot (TUTTI_SHM_SLOT_BYTES)"};
  return {};
}
inline Applies fits_slot(const Problem& q, uint64_t bytes) {
  return fits(q, bytes, q.limits.slots.call_bytes);
}
inline Applies fits_ping_pong_slot(const Problem& q, uint64_t bytes) {
  return fits(q, bytes, q.ping_pong_slot_bytes());
}

}  // namespace tutti
