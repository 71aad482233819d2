// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The bound on eager messages between this rank and a peer that have met no receive. Each end tells
// the other with every frame how much has met its receive there.
#pragma once

#include <cstdint>

#include "transports/match/engine.hpp"

namespace tutti::frames {

class EagerCredit {
 public:
  // ---- messages to the peer
  [[nodiscard]] bool may_send() const { return sent_ - matched_there_ <= match::kUnmatchedBytes; }
  void count_sent(uint64_t cost) { sent_ += cost; }
  // The peer says that so much has met its receive there; false if that makes no sense.
  bool note_matched_there(uint64_t matched) {
    if (matched < matched_there_ || matched > sent_) return false;
    matched_there_ = matched;
    return true;
  }
  // ---- messages from the peer
  void count_matched(uint64_t cost) { matched_ += cost; }
  [[nodiscard]] uint64_t matched() const { return matched_; }
  void note_told() { told_ = matched_; }
  // Whether so much has met its receive that the peer is told at once, without waiting for
  // something to send.
  [[nodiscard]] bool is_owed() const { return matched_ - told_ >= match::kUnmatchedBytes / 4; }

 private:
  // Costs since the start:
  uint64_t sent_ = 0;
  uint64_t matched_there_ = 0;  // cost of sent messages that have met a receive, as the peer told
  uint64_t matched_ = 0;        // cost of the peer's messages that have met a receive
  uint64_t told_ = 0;           // what the peer knows of matched_
};

}  // namespace tutti::frames
