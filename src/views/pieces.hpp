// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Cuts a collective on device buffers into pieces that pass through memory of the host. Each is the
// same collective on a part of every block, so that one piece is copied while another is under way.
// All that ranks must agree on follows from what they all know.
#pragma once

#include <vector>

#include "exec/call.hpp"

namespace tutti {

// A contiguous part of a buffer, in bytes.
struct Segment {
  uint64_t in_buffer = 0;  // where it begins in the caller's
  uint64_t in_stage = 0;   // offset in the memory of the host
  uint64_t bytes = 0;
};

struct StagedPiece {
  // The call on the host's memory: send and recv are to be set to where that lies.
  Call call;
  std::vector<Segment> send;  // segments to copy to the host before
  // Segments of the receive buffer to copy to the host before: a broadcast's root.
  std::vector<Segment> recv_in;
  std::vector<Segment> recv_out;  // segments to copy from the host afterwards
  uint64_t send_bytes = 0;        // bytes of the host's memory
  uint64_t recv_bytes = 0;
};

// The most bytes of the longer buffer in a piece, if all blocks are as long as the longest.
inline constexpr uint64_t kStagedPieceBytes = 4 << 20;

// The number of pieces, at least 1. If ranks know the sizes of their own blocks only
// (sizes_are_own()), it counts this rank's blocks. The call then takes the most pieces of any rank.
uint64_t number_of_pieces(const Call& call, int ranks, uint64_t piece_bytes = kStagedPieceBytes);
StagedPiece piece_of(const Call& call, int rank, int ranks, uint64_t index,
                     uint64_t piece_bytes = kStagedPieceBytes);

}  // namespace tutti
