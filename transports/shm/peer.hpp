// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The state that messages through shared memory need besides the common one
// (match/pending_transfer.hpp).
#pragma once

#include <memory>
#include <optional>

#include "transports/match/pending_transfer.hpp"
#include "transports/shm/rings.hpp"
#include "transports/shm/routes.hpp"

namespace tutti::shm {

using match::Queue;
using match::State;

// A receive in State::kLinkOwned is reading the sender's buffer (Peer::pulls).
struct PendingTransfer : match::PendingTransfer<PendingTransfer> {
  uint64_t address = 0;       // where the message of such a receive lies
  uint32_t withdrawn = 0;     // ring.hpp: what its request said
  bool non_temporal = false;  // whether `buffer` is written by non-temporal stores
  // The address of the message in an arena that this rank sees; null if it does not.
  const std::byte* seen = nullptr;
  double begun_s = 0;   // time at which a long receive met its message
  double worked_s = 0;  // work of a long receive so far, where cores are oversubscribed

  void renew() { moved = 0; }
  [[nodiscard]] bool has_more() const { return moved < limit; }
};

struct UnexpectedMessage : match::UnexpectedMessage<UnexpectedMessage, PendingTransfer> {
  uint64_t address = 0;    // requested: where the message lies
  uint32_t withdrawn = 0;  // requested: what its request said (ring.hpp)
  double seconds = 0;      // long and eager: the time that it took so far
};

struct Peer : match::PeerQueues<PendingTransfer>, RingPair {
  Queue<PendingTransfer> pulls;               // receives that read its memory
  uint32_t asked = 0;                         // sends that wait for its answer
  std::optional<UncountedMessage> uncounted;  // until what is sent to it has gone, too
  // The routes of its long messages, unless cores are oversubscribed. They are made at the first
  // one, for they are large.
  std::unique_ptr<Routes> routes;

  // Whether it asked for sends that it has not taken, or begun to.
  [[nodiscard]] bool has_sends() const { return asked > 0 || !streams.empty(); }
};
// There is one for each other rank and channel: a thousand ranks have millions on a host.
static_assert(sizeof(Peer) <= 512);

struct Types {
  using PendingTransfer = shm::PendingTransfer;
  using UnexpectedMessage = shm::UnexpectedMessage;
  using Peer = shm::Peer;
  static constexpr uint64_t kEagerBytes = kEagerShmBytes;
  static constexpr uint64_t kMessageCost = kCacheLine;
};

}  // namespace tutti::shm
