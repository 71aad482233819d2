// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The state that messages over a network need besides the common one (match/pending_transfer.hpp).
#pragma once

#include <cstdint>

#include "transports/frames/frame.hpp"
#include "transports/match/engine.hpp"

namespace tutti::frames {

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
  uint64_t begun = 0;    // bytes of `limit` moved or under way
  uint64_t granted = 0;  // bytes of `limit` that the sender may begin
  bool taken = false;    // a send: the receiver has it all
  bool drains = false;   // a receive: nobody wants its pieces any more, and they still come

  void renew() {
    limit = moved = begun = granted = 0;
    taken = drains = false;
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

// The messages between this rank and one peer. There is one for each rank from the start.
struct Peer : match::PeerQueues<PendingTransfer> {
  // The last frame of either side:
  bool said_goodbye = false;
  bool gone = false;  // it has said goodbye
};

struct Types {
  using PendingTransfer = frames::PendingTransfer;
  using UnexpectedMessage = frames::UnexpectedMessage;
  using Peer = frames::Peer;
  static constexpr uint64_t kEagerBytes = kEagerFramesBytes;
  static constexpr uint64_t kMessageCost = sizeof(FrameHead);
};

}  // namespace tutti::frames
