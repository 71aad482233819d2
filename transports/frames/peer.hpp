// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The state that messages over a network need besides the common one (match/operation.hpp).
#pragma once

#include <cstdint>
#include <list>
#include <vector>

#include "transports/frames/frame.hpp"
#include "transports/frames/in_order.hpp"
#include "transports/frames/port.hpp"
#include "transports/match/engine.hpp"

namespace tutti::frames {

using match::kUnmatchedBytes;
using match::Put;
using match::State;

struct Operation : match::Operation<Operation> {
  // The phases of State::kApart. The network may use the operation's buffer in either.
  enum class Phase : uint8_t {
    kSending,  // all that may go of a send is under way
    kEnding,   // it has failed, or was cancelled
  };
  Phase phase = Phase::kSending;
  bool retired = false;  // not to be used again: pieces may still come for it
  uint32_t rail = 0;     // of its first piece
  uint64_t begun = 0;    // of `limit`: moved or under way
  uint64_t granted = 0;  // of `limit`: what the sender may begin
  bool taken = false;    // the receiver has it all

  void renew() {
    limit = moved = begun = granted = 0;
    taken = false;
  }
  [[nodiscard]] bool has_more() const { return begun < granted; }
  [[nodiscard]] bool is_reusable() const { return !retired; }
  [[nodiscard]] bool is(Phase which) const { return state == State::kApart && phase == which; }
  void become(Phase which) {
    state = State::kApart;
    phase = which;
  }
  // Whether a receive was granted, or is to be.
  [[nodiscard]] bool is_granted() const {
    return state == State::kGranting || state == State::kReceiving;
  }
};

// The number of a peer's frames after which it is told that they have come.
inline constexpr uint32_t kSeenFrames = 16;

struct Message : match::Message<Message, Operation> {};

// The state of one peer. There is one for each rank from the start, so what most never need takes
// no memory of its own yet.
struct Peer : match::PeerQueues<Operation> {
  uint32_t sent = 0;         // frames
  uint64_t sent_bytes = 0;   // of frames
  InOrder in_order;          // frames from it
  uint32_t frames_out = 0;   // under way
  uint32_t pieces_out = 0;   // under way
  uint32_t next_rail = 0;    // of pieces from it
  uint64_t eager_sent = 0;   // cost of eager messages to it
  uint64_t eager_taken = 0;  // of these, met their receive
  uint64_t matched = 0;      // cost of its eager messages that met their receive here
  uint64_t matched_told = 0;
  uint32_t hellos_owed = 0;
  uint32_t hellos_sent = 0;
  bool dealt = false;          // this rank has sent it something or had something from it
  bool awaited = false;        // a transfer waits for it, as was found since the last look
  uint32_t looks_awaited = 0;  // in a row at which one did, and nothing had come from it
  bool owes_leave = false;
  std::vector<std::byte> last_words;
  // Members for several rails:
  uint64_t lost_rails = 0;       // a bit each
  std::vector<Request*> unseen;  // frames to it that it has not said it has, the oldest first
  uint32_t seen_told = 0;        // how many of its frames it knows to have come
  std::list<FrameHead> notices;  // to be sent
  bool said_goodbye = false;
  bool gone = false;  // it has said goodbye

  // Whether so much has met its receive that the peer is told at once, without waiting for
  // something to send.
  [[nodiscard]] bool owes_credit() const { return matched - matched_told >= kUnmatchedBytes / 4; }
  [[nodiscard]] bool owes_seen() const { return in_order.expected() - seen_told >= kSeenFrames; }
  [[nodiscard]] bool lost(uint32_t rail) const { return (lost_rails >> rail & 1) != 0; }
  // Whether anything has ever come from it.
  [[nodiscard]] bool heard() const { return in_order.expected() > 0; }
  // Whether both have reached one another over each rail.
  [[nodiscard]] bool met(uint32_t rails) const {
    return in_order.expected() >= rails && sent >= rails && frames_out == 0;
  }
};

struct Types {
  using Operation = frames::Operation;
  using Message = frames::Message;
  using Peer = frames::Peer;
  static constexpr uint64_t kEagerBytes = frames::kEagerBytes;
  static constexpr uint64_t kMessageCost = sizeof(FrameHead);
};

}  // namespace tutti::frames
