// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What algorithms share in which one rank, the root, reads what all others give it, or gives them
// what they read: pipelines through whole slots, in chunks, each through one of three or more equal
// parts in turn. Slots are written without asking, so who gives is as far ahead of who takes as
// they reach, also into the next call. Tick i+1 of who gives: chunk i is there; tick i+2 of who
// takes: it is no longer needed there.
#pragma once

#include "algorithms/common.hpp"
#include "algorithms/pipeline.hpp"

namespace tutti {

// The parts of a slot for chunks of this rank's data, or for chunks that consist of a piece for
// each other rank.
struct SlotParts {
  uint64_t part_bytes;
  uint64_t piece_bytes;  // of a chunk that consists of pieces
  int count;

  // Where one rank gives, it uses all of its slot; where many do, half of each is enough, and more
  // of it stays in caches (reduces of 1 MB of 4 ranks on 2 cores: 145 us, with twice as much 156).
  explicit SlotParts(const Problem& q) {
    const uint64_t room =
        root_gives(q.collective) ? q.whole_slot_bytes() : q.whole_slot_bytes() / 2;
    part_bytes = std::min(q.limits.chunk_bytes, room / kLeastParts) / 64 * 64;
    piece_bytes = part_bytes / static_cast<uint64_t>(std::max(q.ranks - 1, 1)) / 64 * 64;
    count = part_bytes == 0 ? 0 : static_cast<int>(room / part_bytes);
  }

  [[nodiscard]] uint64_t at(int chunk) const {
    return static_cast<uint64_t>(chunk % count) * part_bytes;
  }
  [[nodiscard]] uint64_t piece_at(int chunk, int owner, int writer) const {
    return at(chunk) + blocks_before(owner, writer) * piece_bytes;
  }
};

inline Applies fits_slot_parts(const Problem& q, uint64_t smallest_chunk) {
  if (const Applies shares = shares_memory(q); !shares.yes) return shares;
  if (SlotParts(q).part_bytes < smallest_chunk) {
    return {false, "the slots are too small for so many ranks (TUTTI_SHM_SLOT_BYTES)"};
  }
  return {};
}

// Chunk i of this rank's data, which begins there, to its own slot.
inline void put_chunk_in_slot(const Problem& q, Builder& b, int chunks, int i, Ref data) {
  const Range chunk = part_of(q.bytes(), chunks, i);
  b.copy(Ref::of(Space::kSlot, SlotParts(q).at(i), q.rank), data.plus(chunk.offset), chunk.bytes);
}

inline void begin_chunks(const Problem& q, Builder& b, int chunks) {
  const SlotParts parts(q);
  b.ticks(static_cast<uint32_t>(chunks) + 1);
  const auto used = static_cast<uint64_t>(std::clamp(chunks, 1, parts.count)) * parts.part_bytes;
  b.use_of_slots(used);
}

// put(i) writes chunk i to the own slot, on all ranks but the root; take(i) reads it from all
// slots, on the root, which keep(i) gives something else to do before it waits for that.
template <typename Put, typename Keep, typename Take>
void collect_chunks(const Problem& q, Builder& b, int chunks, Put put, Keep keep, Take take) {
  const int parts = SlotParts(q).count;
  begin_chunks(q, b, chunks);
  if (q.rank == q.root || chunks == 0) b.publish(1);
  for (int i = 0; i < chunks; ++i) {
    const auto tick = static_cast<uint32_t>(i) + 1;
    if (q.rank != q.root) {
      if (i >= parts) b.await(q.root, tick + 1 - static_cast<uint32_t>(parts));
      put(i);
      b.publish(tick);
    } else {
      keep(i);
      b.await_all(tick);
      take(i);
      if (i + parts < chunks) b.publish(tick + 1);  // nobody waits for later ones
    }
  }
}

// The other way: put(i) writes chunk i to the root's slot, take(i) reads it on the others.
template <typename Put, typename Take>
void distribute_chunks(const Problem& q, Builder& b, int chunks, Put put, Take take) {
  const int parts = SlotParts(q).count;
  begin_chunks(q, b, chunks);
  if (q.rank != q.root || chunks == 0) b.publish(1);
  for (int i = 0; i < chunks; ++i) {
    const auto tick = static_cast<uint32_t>(i) + 1;
    if (q.rank == q.root) {
      for (int peer = 0; peer < q.ranks && i >= parts; ++peer) {
        if (peer != q.root) b.await(peer, tick + 1 - static_cast<uint32_t>(parts));
      }
      put(i);
      b.publish(tick);
    } else {
      b.await(q.root, tick);
      take(i);
      if (i + parts < chunks) b.publish(tick + 1);
    }
  }
}

}  // namespace tutti
