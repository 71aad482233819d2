// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The protocol of messages, the same over every transport.
//
// A short message goes at once (eager): the receiver copies it into the buffer of its receive, or
// aside if there is none. A longer one asks first (request). When it has met its receive, the
// receiver grants it, and it streams in pieces. Several at a time take turns. Short messages ask
// first, too, once kUnmatchedBytes of them have met no receive: so what a receiver keeps aside is
// bounded by its senders.
//
// The engine is the base of a transport's endpoint, the link, which moves single frames and pieces.
// `Link` has:
//
//   is_up(rank), why_not(rank)   whether messages go to a rank and come from it, and why not;
//                                kAnySource stands for all of them
//   poll_until(wanted)           moves data until that transfer is done; null: all there is
//   push(rank)                   sends what there is room for, by push_turn()
//   owes(rank)                   whether it has more to do for a peer whose queues are empty
//   may_be_eager(send)           whether a message may go without asking
//   put_first(send, eager)       sends the message, or asks for it
//   put_grant(receive)           tells the sender how much is wanted
//   put_piece(send)              sends a piece of a granted message
//   has_gone(send)               all that may go of it has gone
//   takes_apart(receive, message)    a requested message meets its receive: whether the link takes
//                                    it by a route of its own, or it is to be granted
//   take_kept(dst, message, wanted)  copies a message of a peer that was kept aside
//   count_matched(rank, bytes)   an eager message of a peer has met its receive
//   take_back(operation)         forgets it
//   abandon(operation)           ends it, for its peer has failed
//
// and may have
//
//   number_of(rank)              what a rank is called in texts and as a source
//   send_at_once(...)            sends a message without an operation; false if it cannot
//   advance(rank)                the turn of a busy peer; else push(rank)
//
// All of that is found when it is compiled: no call is virtual but those of Endpoint. The longer
// functions are in engine_steps.hpp, for the sources of the link alone.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/tuned.hpp"
#include "transports/match/matching.hpp"
#include "transports/match/operation.hpp"
#include "transports/match/transfers.hpp"

namespace tutti::match {

// What has become of an attempt to send something for an operation.
enum class Put : uint8_t {
  kYes,
  kNotNow,  // there is no room
  kOver,    // it has failed: the operation is no more
};

// What the eager messages of a sender that have met no receive may cost before it asks.
inline constexpr uint64_t kUnmatchedBytes = tuned::kUnmatchedBytes;

// `Types` has the link's Operation, Message and Peer (a PeerQueues); kEagerBytes, up to which
// messages are short; and kMessageCost, what one that is kept aside costs besides its bytes.
template <typename Link, typename Types>
class Engine : public Endpoint {
 public:
  using Op = typename Types::Operation;
  using Kept = typename Types::Message;
  using Peer = typename Types::Peer;

  void send(int peer, Tag tag, const void* source, uint64_t bytes, Transfer& transfer) final;
  void recv(int peer, Tag tag, Tag mask, void* dst, uint64_t bytes, Transfer& transfer) final;
  bool recv_if_here(Tag tag, Tag mask, void* dst, uint64_t bytes, Transfer& transfer) final;
  bool poll() final { return link().poll_until(nullptr); }
  bool poll_for(const Transfer& wanted) final { return link().poll_until(&wanted); }
  void cancel(Transfer& transfer) final {
    if (transfer.done || transfer.internal == nullptr) return;
    link().take_back(*static_cast<Op*>(transfer.internal));
  }
  [[nodiscard]] uint64_t eager_bytes() const final { return Types::kEagerBytes; }
  [[nodiscard]] std::optional<Unmet> first_unmet(int peer, Tag tag, Tag mask) const final {
    if (peer != kAnySource && !is_rank(peer)) return std::nullopt;
    const Kept* const message = matching_.first_message(peer, tag, mask);
    if (message == nullptr) return std::nullopt;
    const int source = static_cast<const Link&>(*this).number_of(message->source);
    return Unmet{.source = source, .tag = message->tag, .bytes = message->bytes};
  }

 protected:
  Engine(int rank, int ranks)
      : rank_(rank), ranks_(ranks), peers_(static_cast<size_t>(ranks)), matching_(ranks) {}

  [[nodiscard]] int ranks() const { return ranks_; }
  Peer& peer(int rank) { return peers_[static_cast<size_t>(rank)]; }
  [[nodiscard]] const Peer& peer(int rank) const { return peers_[static_cast<size_t>(rank)]; }

  // ---- operations
  void release(Op& operation) {
    operation.transfer->internal = nullptr;
    operation.transfer = nullptr;
    pool_.give_back(operation);
  }
  void finish(Op& operation, Status status) {
    Transfer& transfer = *operation.transfer;
    release(operation);
    end(transfer, std::move(status));
  }
  // The receive has all it gets of a message; the second, of one that was granted.
  void finish_receive(Op& receive, int source, Tag tag, uint64_t message_bytes) {
    finish(receive, received(*receive.transfer, receive.bytes, link().number_of(source), tag,
                             message_bytes));
  }
  void finish_granted(Op& receive) {
    finish_receive(receive, receive.peer, receive.transfer->tag, receive.transfer->sent);
  }
  void leave_queue(Op& operation);
  void end_waiting(int rank);
  // Ends all transfers with a peer.
  void fail(int rank, Status failure) {
    peer(rank).failure = std::move(failure);
    pool_.for_each([this, rank](Op& operation) {
      if (operation.peer == rank) link().abandon(operation);
    });
  }

  // ---- what comes from a peer
  void eager_came(int rank, Tag tag, uint64_t bytes, const auto& take);
  void request_came(Kept&& message);
  void stream(Op& send) {  // the peer has granted it
    send.state = State::kStreaming;
    peer(send.peer).streams.push(send);
    make_busy(send.peer);
  }
  void grant(Op& receive);

  // ---- what goes to a peer
  void make_busy(int rank) {
    if (peer(rank).busy) return;
    peer(rank).busy = true;
    busy_.push_back(rank);
  }
  bool push_busy();
  bool push_turn(int rank);

  // What a link need not have.
  static int number_of(int rank) { return rank; }
  static bool send_at_once(int /*peer*/, Tag /*tag*/, const void* /*source*/, uint64_t /*bytes*/) {
    return false;
  }
  bool advance(int rank) { return link().push(rank); }

  const int rank_;
  const int ranks_;
  std::vector<Peer> peers_;
  std::vector<int> busy_;  // those to whom something waits to be sent
  Matching<Op, Kept> matching_;
  Pool<Op> pool_;

 private:
  Link& link() { return static_cast<Link&>(*this); }

  Op& begin(Transfer& transfer, int peer, Tag tag, const void* buffer, uint64_t bytes);
  [[nodiscard]] bool is_rank(int rank) const { return rank >= 0 && rank < ranks(); }
  [[nodiscard]] Status refusal(int rank);
  void send_to_self(Tag tag, const void* source, uint64_t bytes, Transfer& transfer);
  void deliver(Op& receive, const Kept& message);
  void begin_receiving(Op& receive, const Kept& message);
  bool push_grant(int rank);
  bool push_waiting(int rank);
  bool push_piece(int rank);

  uint64_t self_unmatched_ = 0;
};

}  // namespace tutti::match
