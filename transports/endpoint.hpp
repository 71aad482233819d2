// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Messages between ranks: what every transport carries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/status.hpp"

namespace tutti {

inline constexpr int kAnySource = -1;

// The value by which messages are matched. A receive takes the oldest message from its source for
// which (message.tag & mask) == (tag & mask).
using Tag = uint64_t;
inline constexpr Tag kExactTag = ~Tag{0};

// The life of one send or receive; owned by the caller, who must keep it (and the buffer) in place
// until done or cancelled.
struct Transfer {
  bool done = false;
  bool synchronous = false;  // a send that is done only once its receive has taken it; as given
  Status status;       // once done. kTruncated: the message was longer; the first `bytes` arrived
  uint64_t bytes = 0;  // received
  uint64_t sent = 0;   // the length of the message received
  int source = -1;     // rank that sent the message a receive has met; -1: none yet
  Tag tag = 0;         // of the message received
  void* internal = nullptr;         // the endpoint's own data
  class Endpoint* owner = nullptr;  // endpoint that has it, where several are joined; theirs
};

// The envelope of an unexpected message, one that has come and met no receive.
struct MessageEnvelope {
  int source = -1;
  Tag tag = 0;
  uint64_t bytes = 0;
};

// The most bytes of the last words of a rank that leaves.
inline constexpr size_t kMostLastWords = 120;

// The error of a receive from any source if nobody else is left.
inline constexpr std::string_view kAllHaveLeft = "every other rank has destroyed its communicator";

// Carries messages between this rank and all others (itself included). Used by one thread at a
// time. No call waits for a peer: send() and recv() move what they can at once, poll() the rest.
class Endpoint {
 public:
  virtual ~Endpoint() = default;
  // Any number of transfers may be under way. A message of up to eager_bytes() completes at the
  // sender as soon as there is room for it, whether or not a receive is posted.
  virtual void send(int peer, Tag tag, const void* source, uint64_t bytes, Transfer& transfer) = 0;
  virtual void recv(int peer, Tag tag, Tag mask, void* dst, uint64_t bytes, Transfer& transfer) = 0;
  // Begins a receive from any source with the oldest message that it takes, if one has come
  // already. Else returns false, and nothing is posted.
  virtual bool recv_if_here(Tag tag, Tag mask, void* dst, uint64_t bytes, Transfer& transfer) = 0;
  // Moves data, completes transfers; returns whether anything moved.
  virtual bool poll() = 0;
  // Polls like poll(), but stops once `wanted` is done: later arrivals stay where they are, and
  // need not be put aside.
  virtual bool poll_for(const Transfer& wanted) = 0;
  // The first message of `peer`, or of all with kAnySource, that a receive of this tag and mask
  // would take at once. None where an endpoint does not know.
  [[nodiscard]] virtual std::optional<MessageEnvelope> first_unexpected(int /*peer*/,
                                                                        Tag /*tag*/ = 0,
                                                                        Tag /*mask*/ = 0) const {
    return {};
  }
  // Forgets a transfer that is not done; its buffer is not touched afterwards. The peer's transfer
  // may then never complete: for use when the communicator is broken or a receive is given up.
  virtual void cancel(Transfer& transfer) = 0;
  [[nodiscard]] virtual uint64_t eager_bytes() const = 0;
  // Tells the peers that no more transfers begin here; none is under way. Their transfers that wait
  // for this rank then end with an error, after all that it sent. Over a network, peers that it has
  // never dealt with learn it a moment later, once they ask, and without `last_words` (of at most
  // kMostLastWords).
  virtual void leave(std::span<const std::byte> /*last_words*/) {}
  // Whether it has dealt with `peer`, so that each hears when the other leaves.
  [[nodiscard]] virtual bool deals_with(int /*peer*/) const { return false; }
  // Somebody waits for a message of `peer`, or of anyone (kAnySource), without a transfer here: to
  // be said again and again.
  virtual void await(int /*peer*/) {}
  // The last words of `peer`; empty until it has left.
  [[nodiscard]] virtual std::span<const std::byte> last_words_of(int /*peer*/) const { return {}; }
  // Whether `peer` has said so, and all that it sent is here: transfers with it have ended.
  [[nodiscard]] virtual bool has_left(int /*peer*/) const { return false; }
  // Whether all others have, so that nothing comes for a receive from any source.
  [[nodiscard]] virtual bool all_have_left() const { return false; }
  // Whether arrivals ring this rank's bell. If not, a thread that waits for them polls again every
  // fraction of a millisecond.
  [[nodiscard]] virtual bool rings_bell() const { return true; }
};

// Whether all ranks but `rank` have left, as has_left(peer) says. A rank alone may still send to
// itself.
[[nodiscard]] bool have_all_left(int rank, int ranks, const auto& has_left) {
  for (int peer = 0; peer < ranks; ++peer) {
    if (peer != rank && !has_left(peer)) return false;
  }
  return ranks > 1;
}

}  // namespace tutti
