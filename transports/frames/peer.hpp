// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The state that messages over a network need besides the common one (match/pending_transfer.hpp).
#pragma once

#include <cstdint>

#include "transports/frames/frame.hpp"
#include "transports/match/engine.hpp"

namespace tutti::frames {

using match::kUnmatchedBytes;
using match::Put;
using match::State;

struct PendingTransfer : match::PendingTransfer<PendingTransfer> {
  // The phases of State::kLinkOwned. The network may use the operation's buffer in either.
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
  [[nodiscard]] bool is(Phase which) const { return state == State::kLinkOwned && phase == which; }
  void become(Phase which) {
    state = State::kLinkOwned;
    phase = which;
  }
  // Whether a receive was granted, or is to be.
  [[nodiscard]] bool is_granted() const {
    return state == State::kGranting || state == State::kReceiving;
  }
};

struct UnexpectedMessage : match::UnexpectedMessage<UnexpectedMessage, PendingTransfer> {};

// The bound on eager messages between this rank and a peer that have met no receive. Each end tells
// the other with every frame how much has met its receive there.
class EagerCredit {
 public:
  // ---- messages to the peer
  [[nodiscard]] bool may_send() const { return sent_ - matched_there_ <= kUnmatchedBytes; }
  void count_sent(uint64_t cost) { sent_ += cost; }
  // So much has met its receive there; false if that makes no sense.
  bool note_taken(uint64_t matched) {
    if (matched < matched_there_ || matched > sent_) return false;
    matched_there_ = matched;
    return true;
  }
  // ---- messages from the peer
  void count_matched(uint64_t cost) { matched_ += cost; }
  [[nodiscard]] uint64_t matched() const { return matched_; }
  void note_told() { told_matched_ = matched_; }
  // Whether so much has met its receive that the peer is told at once, without waiting for
  // something to send.
  [[nodiscard]] bool is_owed() const { return matched_ - told_matched_ >= kUnmatchedBytes / 4; }

 private:
  // Costs since the start:
  uint64_t sent_ = 0;
  uint64_t matched_there_ = 0;  // of what was sent, as the peer has told
  uint64_t matched_ = 0;        // of what came from the peer
  uint64_t told_matched_ = 0;   // as the peer knows
};

// The messages between this rank and one peer. There is one for each rank from the start.
struct Peer : match::PeerQueues<PendingTransfer> {
  EagerCredit credit;
  uint32_t pieces_out = 0;  // under way
  uint32_t next_rail = 0;   // of pieces from it
  // The last frame of either side:
  bool said_goodbye = false;
  bool gone = false;  // it has said goodbye
};

struct Types {
  using PendingTransfer = frames::PendingTransfer;
  using UnexpectedMessage = frames::UnexpectedMessage;
  using Peer = frames::Peer;
  static constexpr uint64_t kEagerBytes = kEagerFrames;
  static constexpr uint64_t kMessageCost = sizeof(FrameHead);
};

}  // namespace tutti::frames
