// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Pipelines through the shared windows: a message passes in chunks, each through one of three or
// more equal buffers in every rank's window in turn. A rank publishes once and waits once per
// chunk. It waits for what was published before its peers' last piece of work, so that small delays
// cancel out.
#pragma once

#include "algorithms/common.hpp"

namespace tutti {

inline constexpr uint64_t kLeastBuffers = 3;

// The buffers in a window or slot for chunks of this rank's data, or for chunks that consist of a
// piece for each other rank. There are as many as fit: a core writes faster to lines that a peer
// has read long ago.
struct ChunkBuffers {
  Space space;
  uint64_t chunk_bytes;  // the longest chunk, and the length of a buffer; 0: no room for one
  uint64_t piece_bytes;  // the longest piece
  int count;

  // Buffers in the first `room` bytes there.
  ChunkBuffers(const Problem& q, Space space, uint64_t room)
      : space(space),
        chunk_bytes(std::min(q.limits.chunk_bytes, room / kLeastBuffers) / 64 * 64),
        piece_bytes(chunk_bytes / static_cast<uint64_t>(std::max(q.ranks - 1, 1)) / 64 * 64),
        count(chunk_bytes == 0 ? 0 : static_cast<int>(room / chunk_bytes)) {}

  // The number of chunks in which a block passes, whole or as pieces.
  [[nodiscard]] int chunks(const Problem& q) const {
    return parts_of_at_most(q.bytes(), chunk_bytes);
  }
  [[nodiscard]] int chunks_of_pieces(const Problem& q) const {
    return parts_of_at_most(q.bytes(), piece_bytes);
  }
  // The beginning of chunk i's buffer, on every rank, and in it the piece for `owner`.
  [[nodiscard]] uint64_t at(int chunk) const {
    return static_cast<uint64_t>(chunk % count) * chunk_bytes;
  }
  [[nodiscard]] uint64_t piece_at(int chunk, int owner, int writer) const {
    return at(chunk) + blocks_before(owner, writer) * piece_bytes;
  }
};

inline ChunkBuffers window_buffers(const Problem& q) {
  return {q, Space::kWindow, q.limits.window_bytes};
}

inline Applies fits_buffers(const Problem& q, const ChunkBuffers& buffers,
                            uint64_t smallest_chunk) {
  if (const Applies shares = shares_memory(q); !shares.yes) return shares;
  if (buffers.chunk_bytes >= smallest_chunk) return {};
  if (buffers.space == Space::kSlot) {
    return {false, "the slots are too small for so many ranks (TUTTI_SHM_SLOT_BYTES)"};
  }
  return {false, "the window is too small for so many ranks (TUTTI_SHM_WINDOW_BYTES)"};
}

// Whether there is room for chunks of a line at least, or of a line for each other rank.
template <ChunkBuffers (*buffers)(const Problem&)>
Applies fits_chunks(const Problem& q) {
  return fits_buffers(q, buffers(q), 64);
}
template <ChunkBuffers (*buffers)(const Problem&)>
Applies fits_pieces(const Problem& q) {
  return fits_buffers(q, buffers(q), 64 * static_cast<uint64_t>(q.ranks - 1));
}

// Chunk i of this rank's data, which begins there, to its own buffer.
inline void put_chunk(const Problem& q, Builder& b, const ChunkBuffers& buffers, int chunks, int i,
                      Ref data) {
  const Range chunk = part_of(q.bytes(), chunks, i);
  b.copy(Ref::of(buffers.space, buffers.at(i), q.rank), data.plus(chunk.offset), chunk.bytes);
}
// The piece of one block, if a chunk consists of pieces, one of each block.
inline Range piece_of(const Range& block, int chunks, int i) {
  const Range piece = part_of(block.bytes, chunks, i);
  return {block.offset + piece.offset, piece.bytes};
}
inline void put_pieces(const Problem& q, Builder& b, const ChunkBuffers& buffers, int chunks,
                       int i) {
  for (int distance = 1; distance < q.ranks; ++distance) {
    const int owner = rank_after(q, distance);
    const Range piece = piece_of(q.send_block(owner), chunks, i);
    b.copy(Ref::of(buffers.space, buffers.piece_at(i, owner, q.rank), q.rank),
           send_at(piece.offset), piece.bytes);
  }
}

// put(i) writes chunk i to the own window, take(i) reads it from all windows.
//
// put(i + 1) overwrites what take(i - 2) of the others read: that ended before they published
// put(i), which this rank has awaited.
template <typename Put, typename Take>
void exchange_chunks(Builder& b, int chunks, Put put, Take take) {
  b.publish(1);
  b.await_all(1);
  if (chunks == 0) return;
  put(0);
  b.publish(2);
  for (int i = 0; i < chunks; ++i) {
    const auto tick = static_cast<uint32_t>(i) + 2;
    b.await_all(tick);
    if (i + 1 < chunks) {
      put(i + 1);
      b.publish(tick + 1);
    }
    take(i);
  }
}

// An exchange with work between. put(i) writes chunk i to the own window. work(i) turns what all
// have put into a result in the own window. take(i) reads the results from all windows. put and
// work must not write the same bytes, whatever the chunks.
//
// One tick says that work(i) and put(i + 1) are done. When all are there, work(i) overwrites a
// result that was taken before the tick of work(i - 1). put(i + 1) overwrites what work(i - 2)
// read.
template <typename Put, typename Work, typename Take>
void exchange_results(Builder& b, int chunks, Put put, Work work, Take take) {
  b.publish(1);
  b.await_all(1);
  if (chunks == 0) return;
  put(0);
  b.publish(2);
  for (int i = 0; i <= chunks; ++i) {
    const auto tick = static_cast<uint32_t>(i) + 2;
    b.await_all(tick);
    if (i < chunks) {
      work(i);
      if (i + 1 < chunks) put(i + 1);
      b.publish(tick + 1);
    }
    if (i > 0) take(i - 1);
  }
}

}  // namespace tutti
