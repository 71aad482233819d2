// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "views/pieces.hpp"

#include <algorithm>

namespace tutti {
namespace {

uint64_t blocks_in(Blocks blocks, int ranks) {
  switch (blocks) {
    case Blocks::kNone: return 0;
    case Blocks::kOne: return 1;
    case Blocks::kPerRank: return static_cast<uint64_t>(ranks);
  }
  return 0;
}

// Elements of each block in a piece: of the collective and not of this rank's part in it.
uint64_t elements_per_piece(const Call& call, int ranks, uint64_t piece_bytes) {
  const BufferBlocks most = facts_of(call.collective).blocks;
  const uint64_t blocks =
      std::max({uint64_t{1}, blocks_in(most.send, ranks), blocks_in(most.recv, ranks)});
  return std::max(uint64_t{1}, piece_bytes / (blocks * type_size(call.type)));
}

// `count` elements from `first` on of each of `blocks` blocks, one after the other in the stage.
std::vector<Segment> strided(const Call& call, uint64_t blocks, uint64_t first, uint64_t count) {
  const uint64_t size = type_size(call.type);
  std::vector<Segment> segments;
  for (uint64_t block = 0; block < blocks && count > 0; ++block) {
    segments.push_back({.in_buffer = (block * call.count + first) * size,
                        .in_stage = block * count * size,
                        .bytes = count * size});
  }
  return segments;
}

// The blocks, which lie in the stage as they do in the buffer.
std::vector<Segment> blocks_of_layout(const Layout& layout, uint64_t size, uint64_t& stage_bytes) {
  std::vector<Segment> segments;
  for (size_t b = 0; b < layout.counts.size(); ++b) {
    if (layout.counts[b] == 0) continue;
    const uint64_t begin = layout.offsets[b] * size;
    const uint64_t bytes = layout.counts[b] * size;
    segments.push_back({.in_buffer = begin, .in_stage = begin, .bytes = bytes});
    stage_bytes = std::max(stage_bytes, begin + bytes);
  }
  return segments;
}

}  // namespace

uint64_t number_of_pieces(const Call& call, int ranks, uint64_t piece_bytes) {
  if (is_uneven(call.collective) || call.count == 0) return 1;
  const uint64_t each = elements_per_piece(call, ranks, piece_bytes);
  return (call.count + each - 1) / each;
}

StagedPiece piece_of(const Call& call, int rank, int ranks, uint64_t index, uint64_t piece_bytes) {
  StagedPiece piece;
  piece.call = call;
  const uint64_t size = type_size(call.type);
  if (is_uneven(call.collective)) {
    piece.send = blocks_of_layout(call.layouts->send, size, piece.send_bytes);
    piece.recv_out = blocks_of_layout(call.layouts->recv, size, piece.recv_bytes);
    return piece;
  }
  const BufferBlocks here = blocks_of(call.collective, call.root == rank);
  const uint64_t each = elements_per_piece(call, ranks, piece_bytes);
  const uint64_t first = index * each;
  piece.call.count = std::min(each, call.count - first);
  const uint64_t sent = blocks_in(here.send, ranks);
  const uint64_t received = blocks_in(here.recv, ranks);
  piece.send = strided(call, sent, first, piece.call.count);
  std::vector<Segment> recv = strided(call, received, first, piece.call.count);
  piece.send_bytes = sent * piece.call.count * size;
  piece.recv_bytes = received * piece.call.count * size;
  const bool gives = call.collective == Collective::kBroadcast && call.root == rank;
  (gives ? piece.recv_in : piece.recv_out) = std::move(recv);
  return piece;
}

}  // namespace tutti
