// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How ranks learn that one of them leaves. It tells those that it has dealt with, over the
// connections that they have. To tell all would connect every two ranks at the end of a
// communicator, most of them for the first time (docs/scale.md). So a rank that waits for one of
// which it has never heard sends that an empty frame. Then they have dealt with one another, or
// nobody is there any more. If the network would not say that, all are told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transports/frames/peer.hpp"

namespace tutti::frames {

class FrameEndpoint;

// A part of its endpoint, in whose threads all of this runs.
class Leaving {
 public:
  // `tells_all`: the network does not say that nobody is there.
  Leaving(FrameEndpoint& endpoint, bool tells_all) : endpoint_(endpoint), tells_all_(tells_all) {}

  // ---- this rank leaves: Endpoint::leave()
  void tell(std::span<const std::byte> last_words);
  // Sends the word that this rank leaves; it comes last of all.
  bool push(int rank);
  [[nodiscard]] bool deals_with(const Peer& peer) const { return tells_all_ || peer.dealt; }
  // A frame has come from that peer.
  void has_dealt(int rank);
  // Lets what was sent reach the peers, within a fraction of a second.
  void say_goodbye();

  // ---- others do
  // Nothing more comes from it, and it takes nothing more. Both sides know of the messages that are
  // under way.
  void is_over(int rank);
  [[nodiscard]] bool all_have_left() const;
  // A transfer waits for it, or for anyone: Endpoint::await().
  void await(int rank);
  // Asks those that were awaited for long, if it is time to.
  void look();
  // Whether sending to it fails because it has left, and not because it has failed.
  [[nodiscard]] bool explains_loss(int rank) const;

 private:
  void note_whom_transfers_await();
  [[nodiscard]] bool never_dealt_with(int rank) const;
  bool ask(int rank);
  void ask_anyone();

  FrameEndpoint& endpoint_;
  const bool tells_all_;
  bool told_ = false;  // whoever deals with this rank from now on is told as well
  std::vector<std::byte> last_words_;
  uint32_t polls_ = 0;  // since the clock was looked at
  int64_t next_look_ms_ = 0;
  bool awaits_anyone_ = false;        // as Peer::awaited
  uint32_t looks_awaits_anyone_ = 0;  // as Peer::looks_awaited
  int last_asked_ = 0;                // of those that may be the one that is awaited
};

}  // namespace tutti::frames
