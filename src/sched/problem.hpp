// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The problem that a schedule solves: which collective, on what blocks, for which rank of how many,
// and what it may use for that (Limits). Algorithms call it `q`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/hosts.hpp"
#include "core/slot_plan.hpp"
#include "core/types.hpp"
#include "core/wait.hpp"

namespace tutti {

// Limits on which the ranks of a communicator agree at its creation.
struct Limits {
  SlotPlan slots;  // eager staging; none: ranks share no memory, algorithms must use messages only
  uint64_t window_bytes = 0;
  uint64_t chunk_bytes = 0;  // chunk of one rank's data per pipeline stage; <= window_bytes / 2
  uint64_t non_temporal_bytes = UINT64_MAX;  // non-temporal stores from this message size on
  bool pulls = false;       // ranks can read one another's buffers; only if they share memory
  bool maps_peers = false;  // a pull is a plain copy, because all ranks map these buffers
  int pull_readers = 0;     // how many ranks read one rank's buffer at a time; 0: any number
  bool tries_non_temporal = false;  // non_temporal_bytes is a guess, to be tried
  bool pulls_few = false;       // `pulls` holds for the collectives that for_calls_of() names only
  bool oversubscribed = false;  // ranks share cores
  bool exports_blocks = false;  // ranks show where blocks lie whose place only they know

  // The limits for calls of one collective.
  [[nodiscard]] Limits for_calls_of(Collective collective) const {
    Limits limits = *this;
    const bool one_of_few =
        collective == Collective::kAllgather || collective == Collective::kAllgatherv ||
        collective == Collective::kAlltoall || collective == Collective::kScatter;
    limits.pulls = pulls && (!pulls_few || one_of_few);
    return limits;
  }
};

// A contiguous part of something, in bytes.
struct Range {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

// The places of a buffer's blocks that differ in size, in elements.
struct BlockLayout {
  std::vector<uint64_t> counts;
  std::vector<uint64_t> offsets;
  friend bool operator==(const BlockLayout&, const BlockLayout&) = default;
};
struct BlockLayouts {
  BlockLayout send;
  BlockLayout recv;
  friend bool operator==(const BlockLayouts&, const BlockLayouts&) = default;
};

// A collective call as an algorithm sees it on one rank. A block is `count` elements. The caller's
// buffers hold (as blocks_of() in core/types.hpp says):
//   allreduce: send 1, recv 1.  broadcast: send unused; recv 1 (the buffer, source at the root).
//   allgather: send 1, recv `ranks` blocks.  reduce_scatter: send `ranks` blocks, recv 1.
//   alltoall: send and recv `ranks` blocks.  reduce: send 1; recv 1, at the root only.
//   gather: send 1; recv `ranks` blocks, at the root only.
//   scatter: send `ranks` blocks, at the root only; recv 1.
//   barrier: nothing, count 0.
// Block i of `ranks` blocks begins at i * stride: a lane works on a part of each block, so there
// are gaps between its parts.
struct Problem {
  Collective collective = Collective::kBarrier;
  int rank = 0;
  int ranks = 1;
  int root = 0;
  uint64_t count = 0;   // elements per block
  uint64_t stride = 0;  // elements from block to block, >= count
  uint32_t element_bytes = 1;
  DataType type = DataType::kFloat32;  // of the elements, which only a tuner asks for
  // The blocks of this rank's buffers where they differ in size (allgatherv, reduce_scatterv,
  // alltoallv, gatherv, scatterv), as many as without the v. In the first two every rank knows the
  // sizes of all blocks, and `count` is the largest. In the others a rank knows those of its own
  // blocks only, and `count` is 0. Without a layout all blocks have `count` elements.
  BlockLayouts layouts;
  // The caller's buffers coincide. In allreduce and reduce, send == recv. In allgather and gather,
  // send is block `rank` of recv; in reduce_scatter and scatter, recv is block `rank` of send. In
  // alltoall, send == recv, with equal layouts. In a collective with a root the root alone may work
  // in place; this means nothing on the other ranks.
  bool in_place = false;
  // The operation asks for a reduction in one step in rank order (needs_rank_order()).
  bool rank_order = false;
  Limits limits;
  // The hosts of the ranks if there are several; else null. All ranks together then share no memory
  // (Limits::slots is empty). The ranks of a composition's phase within a host do.
  const Hosts* hosts = nullptr;
  // The ranks that share a last-level cache, written as if each cache were a host. Null if all
  // ranks share one, share no memory, or it is not known.
  const Hosts* cache_domains = nullptr;

  [[nodiscard]] uint64_t bytes() const { return count * element_bytes; }
  // Whether all ranks know the sizes of all blocks, or of the largest.
  [[nodiscard]] bool known_to_all() const { return !is_uneven(collective) || count > 0; }
  // The most that any rank receives, if all blocks are as long as the largest; 0 if that is not
  // known to all.
  [[nodiscard]] uint64_t received_bytes() const {
    const bool blocks = blocks_of(collective, true).recv == Blocks::kPerRank;
    return bytes() * (blocks ? static_cast<uint64_t>(ranks) : 1);
  }
  // The bytes of its slot that a rank uses, unless the schedule says otherwise
  // (Schedule::slot_extent). They hold the block that it gives to all, or its blocks for the
  // others. It follows from the call's arguments alone, so it is the same on every rank.
  [[nodiscard]] uint64_t slot_extent() const {
    const bool blocks = blocks_of(collective, true).send == Blocks::kPerRank;
    const uint64_t most = bytes() * (blocks ? static_cast<uint64_t>(ranks) - 1 : 1);
    return whole_lines(std::min(most, limits.slots.call_bytes));
  }
  // The most that Schedule::slot_extent may be.
  [[nodiscard]] uint64_t whole_slot_bytes() const { return limits.slots.longest_bytes(); }
  // The most that fits a slot where two ranks swap theirs (ping-pong slots), and more do not.
  [[nodiscard]] uint64_t ping_pong_slot_bytes() const { return limits.slots.swapped_bytes(ranks); }
  [[nodiscard]] uint64_t stride_bytes() const { return stride * element_bytes; }
  // Block i of the buffer; block 0 if it has but one.
  [[nodiscard]] Range send_block(int i) const { return block(layouts.send, i); }
  [[nodiscard]] Range recv_block(int i) const { return block(layouts.recv, i); }

 private:
  [[nodiscard]] Range block(const BlockLayout& layout, int i) const {
    const auto at = static_cast<size_t>(i);
    if (layout.counts.empty()) return {at * stride_bytes(), bytes()};
    return {layout.offsets[at] * element_bytes, layout.counts[at] * element_bytes};
  }
};

}  // namespace tutti
