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

// At most `count` elements from `first` on of each block, one after the other in the stage: `part`
// says where.
std::vector<Segment> parts_of_layout(const BlockLayout& layout, uint64_t first, uint64_t count,
                                     uint64_t size, BlockLayout& part, uint64_t& stage_bytes) {
  std::vector<Segment> segments;
  for (size_t b = 0; b < layout.counts.size(); ++b) {
    const uint64_t begin = std::min(first, layout.counts[b]);
    const uint64_t now = std::min(count, layout.counts[b] - begin);
    part.counts.push_back(now);
    part.offsets.push_back(stage_bytes / size);
    if (now == 0) continue;
    segments.push_back({.in_buffer = (layout.offsets[b] + begin) * size,
                        .in_stage = stage_bytes,
                        .bytes = now * size});
    stage_bytes += now * size;
  }
  return segments;
}

// Elements of the longest block that this rank knows of.
uint64_t longest_block(const Call& call) {
  uint64_t longest = call.count;
  if (call.layouts == nullptr) return longest;
  for (const BlockLayout* const layout : {&call.layouts->send, &call.layouts->recv}) {
    for (const uint64_t count : layout->counts) longest = std::max(longest, count);
  }
  return longest;
}

}  // namespace

uint64_t number_of_pieces(const Call& call, int ranks, uint64_t piece_bytes) {
  const uint64_t each = elements_per_piece(call, ranks, piece_bytes);
  return std::max<uint64_t>(1, (longest_block(call) + each - 1) / each);
}

StagedPiece piece_of(const Call& call, int rank, int ranks, uint64_t index, uint64_t piece_bytes) {
  StagedPiece piece;
  piece.call = call;
  const uint64_t size = type_size(call.type);
  const BufferBlocks here = blocks_of(call.collective, call.root == rank);
  const uint64_t each = elements_per_piece(call, ranks, piece_bytes);
  const uint64_t first = index * each;
  piece.call.count = std::min(each, call.count - std::min(first, call.count));
  if (call.layouts != nullptr) {
    auto layouts = std::make_shared<BlockLayouts>();
    piece.send =
        parts_of_layout(call.layouts->send, first, each, size, layouts->send, piece.send_bytes);
    piece.recv_out =
        parts_of_layout(call.layouts->recv, first, each, size, layouts->recv, piece.recv_bytes);
    piece.call.layouts = std::move(layouts);
    return piece;
  }
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
