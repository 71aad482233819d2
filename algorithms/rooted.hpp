// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Common parts of algorithms in which one rank, the root, reads what all others give it, or gives
// them what they read. They are pipelines through whole slots, in chunks, each through one of three
// or more equal buffers in turn. Slots are written without asking. So a giver is as far ahead of a
// taker as they reach, also into the next call. A giver's tick i+1 says that chunk i is there, a
// taker's tick i+2 that it is no longer needed there.
#pragma once

#include "algorithms/common.hpp"
#include "algorithms/pipeline.hpp"

namespace tutti {

// A single giver uses all of its slot. If many give, half of each is enough, and more of it stays
// in caches.
inline ChunkBuffers slot_buffers(const Problem& q) {
  const uint64_t whole = q.whole_slot_bytes();
  return {q, Space::kSlot, root_gives(q.collective) ? whole : whole / 2};
}

inline void begin_chunks(const Problem& q, Builder& b, int chunks) {
  const ChunkBuffers buffers = slot_buffers(q);
  b.ticks(static_cast<uint32_t>(chunks) + 1);
  b.use_of_slots(static_cast<uint64_t>(std::min(chunks, buffers.count)) * buffers.chunk_bytes);
}

// put(i) writes chunk i to the own slot, on all ranks but the root. take(i) reads it from all
// slots, on the root, which keep(i) gives something else to do before it waits for that.
template <typename Put, typename Keep, typename Take>
void collect_chunks(const Problem& q, Builder& b, int chunks, Put put, Keep keep, Take take) {
  const int buffers = slot_buffers(q).count;
  begin_chunks(q, b, chunks);
  if (q.rank == q.root || chunks == 0) b.publish(1);
  for (int i = 0; i < chunks; ++i) {
    const auto tick = static_cast<uint32_t>(i) + 1;
    if (q.rank != q.root) {
      if (i >= buffers) b.await(q.root, tick + 1 - static_cast<uint32_t>(buffers));
      put(i);
      b.publish(tick);
    } else {
      keep(i);
      b.await_all(tick);
      take(i);
      if (i + buffers < chunks) b.publish(tick + 1);  // nobody waits for later ones
    }
  }
}

// The other way: put(i) writes chunk i to the root's slot, take(i) reads it on the others.
template <typename Put, typename Take>
void distribute_chunks(const Problem& q, Builder& b, int chunks, Put put, Take take) {
  const int buffers = slot_buffers(q).count;
  begin_chunks(q, b, chunks);
  if (q.rank != q.root || chunks == 0) b.publish(1);
  for (int i = 0; i < chunks; ++i) {
    const auto tick = static_cast<uint32_t>(i) + 1;
    if (q.rank == q.root) {
      if (i >= buffers) b.await_all(tick + 1 - static_cast<uint32_t>(buffers));
      put(i);
      b.publish(tick);
    } else {
      b.await(q.root, tick);
      take(i);
      if (i + buffers < chunks) b.publish(tick + 1);
    }
  }
}

}  // namespace tutti
