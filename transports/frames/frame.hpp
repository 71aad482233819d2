// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The frames that ranks write to one another besides the pieces of long messages. Ranks have one
// byte order: the exchange of addresses compares it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/tuned.hpp"
#include "transports/transport.hpp"

namespace tutti::frames {

enum class FrameKind : uint32_t {
  kEager = 1,  // a whole message: tag, bytes; these follow
  kRequest,    // a message that waits to be granted: tag, bytes, id of the send
  kGrant,    // for the send `id`: bytes: how much of it is wanted; upto: how much of that has been
             // posted so far (more grants follow); tag: of the pieces, see grant_tag()
  kCredit,   // nothing but `matched`
  kHello,    // over each rail to a higher rank, which answers with the same: see greet()
  kLeave,    // no more messages begin or end here: bytes; these, the rank's last words, follow
  kGoodbye,  // the last: this endpoint is about to close
  // Kinds for peers with several rails (piece_protocol.hpp):
  kRailLost,  // rail number `id` carries nothing between the two any more
  kAgain,     // piece `tag` of the send `id` is expected over rail `upto`, whatever was before
  kTaken,     // all of the send `id` that was granted has come
};

struct FrameHead {
  uint32_t cookie;    // the channel's number; a frame with another one is none of ours
  uint32_t rank;      // who sends
  uint32_t sequence;  // counts the frames from this rank to that
  FrameKind kind;
  uint64_t matched;  // eager bytes received so far that have met their receive
  Tag tag;
  uint64_t bytes;
  uint64_t id;
  uint64_t upto;
  uint32_t seen;  // how many of the receiver's frames have come, in order
  uint32_t reserved;
};
static_assert(sizeof(FrameHead) == 64);

// Messages up to this size take less time to copy than to ask for first.
using tuned::kEagerFramesBytes;
inline constexpr uint64_t kFrameBytes = sizeof(FrameHead) + kEagerFramesBytes;

// Long messages go in pieces, straight from the sender's buffer to the receiver's. The receiver
// posts up to kPiecesAhead of them per rail before it grants these, and another whenever one has
// come.
inline constexpr uint64_t kPieceBytes = 1 << 20;
inline constexpr uint64_t kPiecesAhead = 4;

// The tag by which the network matches pieces: the receive's index in its endpoint's list, and the
// piece's number. Together below 48 bits, which every network has. An index whose pieces may still
// come when its receive has failed is not used again.
inline constexpr uint64_t piece_tag(uint32_t index, uint64_t piece) {
  return uint64_t{index} << 16 | (piece & 0xffff);
}
inline constexpr uint64_t operation_of(uint64_t piece_tag) { return piece_tag >> 16; }
inline constexpr uint64_t piece_of(uint64_t piece_tag) { return piece_tag & 0xffff; }

// The rail that a piece takes, which both ends must know. A message's pieces take turns, and its
// first takes the rail after the last of the message before.
inline constexpr uint32_t rail_of(uint32_t first, uint64_t piece, uint32_t rails) {
  return static_cast<uint32_t>((first + piece) % rails);
}
inline constexpr Tag grant_tag(uint32_t index, uint32_t first_rail) {
  return Tag{first_rail} << 32 | index;
}
inline constexpr uint32_t index_of(Tag grant_tag) { return static_cast<uint32_t>(grant_tag); }
inline constexpr uint32_t first_rail_of(Tag grant_tag) {
  return static_cast<uint32_t>(grant_tag >> 32);
}

}  // namespace tutti::frames
