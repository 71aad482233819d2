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
// The engine is the base of a transport's endpoint, the link, which moves single frames and pieces:
// Engine::is_link() has what that must offer. It may have functions of its own instead of
// number_of(), send_at_once(), advance() and may_send(), which the engine has as well. All of that
// is found when it is compiled: no call is virtual but those of Endpoint. The longer functions are
// in engine_steps.hpp, for the sources of the link alone.
#pragma once

#include <concepts>
#include <optional>
#include <utility>
#include <vector>

#include "transports/match/matching.hpp"
#include "transports/match/pending_transfer.hpp"
#include "transports/match/transfers.hpp"

namespace tutti::match {

// The outcome of an attempt to send something for an operation.
enum class Put : uint8_t {
  kYes,
  kNotNow,  // there is no room
  kOver,    // it has failed: the operation is no more
};

// The cost up to which a sender's eager messages may stay unmatched before it asks.
inline constexpr uint64_t kUnmatchedBytes = 4 << 20;

// `Types` has the link's PendingTransfer, UnexpectedMessage and Peer (a PeerQueues). Messages are
// short up to its kEagerBytes; one that is kept aside costs kMessageCost besides its bytes.
template <typename Link, typename Types>
class Engine : public Endpoint {
 public:
  using Op = typename Types::PendingTransfer;
  using Unexpected = typename Types::UnexpectedMessage;
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
  [[nodiscard]] bool has_left(int rank) const final { return peer(rank).left; }
  [[nodiscard]] bool all_have_left() const final {
    return have_all_left(rank_, ranks(), [this](int peer) { return has_left(peer); });
  }
  [[nodiscard]] uint64_t eager_bytes() const final { return Types::kEagerBytes; }
  [[nodiscard]] std::optional<MessageEnvelope> first_unexpected(int peer, Tag tag,
                                                                Tag mask) const final {
    if (peer != kAnySource && !is_rank(peer)) return std::nullopt;
    const Unexpected* const message = matching_.first_message(peer, tag, mask);
    if (message == nullptr) return std::nullopt;
    const int source = static_cast<const Link&>(*this).number_of(message->source);
    return MessageEnvelope{.source = source, .tag = message->tag, .bytes = message->bytes};
  }

 protected:
  Engine(int rank, int ranks)
      : rank_(rank), ranks_(ranks), peers_(static_cast<size_t>(ranks)), matching_(ranks) {
    static_assert(is_link());
  }

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
  void dequeue(Op& operation);
  // The peer has left, and all that it sent is here. A rank has nothing under way when it leaves: a
  // transfer with it that has not ended here was taken back there, as late.
  void note_left(int rank) {
    peer(rank).left = true;
    end_all(rank);
    if (all_have_left()) end_all(kAnySource);
  }
  void fail(int rank, Status failure) {
    peer(rank).failure = std::move(failure);
    end_all(rank);
  }

  // ---- what comes from a peer
  void eager_came(int rank, Tag tag, uint64_t bytes, const auto& take);
  void request_came(Unexpected&& message);
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

  // Defaults that a link may replace. They name a rank in texts and as a source, and send a message
  // without an operation (false: it cannot). The third takes the turn of a busy peer.
  static int number_of(int rank) { return rank; }
  static bool send_at_once(int /*peer*/, Tag /*tag*/, const void* /*source*/, uint64_t /*bytes*/) {
    return false;
  }
  bool advance(int rank) { return link().push(rank); }
  // Whether a message may still come from a rank, or from any.
  [[nodiscard]] bool may_send(int rank) { return link().is_up(rank); }

  const int rank_;
  const int ranks_;
  std::vector<Peer> peers_;
  std::vector<int> busy_;  // peers to whom something waits to be sent
  Matching<Op, Unexpected> matching_;
  Pool<Op> pool_;

 private:
  // Ends all transfers with a peer, as the link says why.
  void end_all(int rank) {
    pool_.for_each([this, rank](Op& operation) {
      if (operation.peer == rank) link().abandon(operation);
    });
  }
  static constexpr bool is_link() {
    return requires(Link & link, Op & operation, const Unexpected& message, Status& status,
                    int rank) {
             // Whether messages go to a rank and come from it, and why not; kAnySource stands for
             // all.
             requires std::same_as<decltype(link.is_up(rank)), bool>;
             status = link.why_not(rank);
             // Moves data until that transfer is done; null: all there is. Whether anything moved.
             requires std::same_as<decltype(link.poll_until(operation.transfer)), bool>;
             // Sends what there is room for, by push_turn(). Whether anything went.
             requires std::same_as<decltype(link.push(rank)), bool>;
             // Whether it has more to do for a peer whose queues are empty.
             requires std::same_as<decltype(link.owes(rank)), bool>;
             // Whether a message may go without asking.
             requires std::same_as<decltype(link.may_be_eager(operation)), bool>;
             // Sends the message, or asks for it; tells the sender how much is wanted; sends a
             // piece of a granted message.
             requires std::same_as<decltype(link.put_first(operation, true)), Put>;
             requires std::same_as<decltype(link.put_grant(operation)), Put>;
             requires std::same_as<decltype(link.put_piece(operation)), Put>;
             // Notes that all of the message that may go has gone.
             link.note_sent(operation);
             // Begins a receive that a requested message meets by a route of the link's own; false:
             // it is to be granted.
             requires std::same_as<decltype(link.begin_own_route(operation, message)), bool>;
             // Copies so many bytes of a message of a peer that was kept aside.
             link.take_kept(operation.buffer, message, uint64_t{});
             // Notes that an eager message of so many bytes of a peer has met its receive.
             link.count_matched(rank, uint64_t{});
             // Forgets the operation; ends it, for its peer has failed or left.
             link.take_back(operation);
             link.abandon(operation);
           };
  }
  Link& link() { return static_cast<Link&>(*this); }

  Op& begin(Transfer& transfer, int peer, Tag tag, const void* buffer, uint64_t bytes);
  [[nodiscard]] bool is_rank(int rank) const { return rank >= 0 && rank < ranks(); }
  [[nodiscard]] Status refusal(int rank);
  void send_to_self(Tag tag, const void* source, uint64_t bytes, Transfer& transfer);
  void deliver(Op& receive, const Unexpected& message);
  void begin_receiving(Op& receive, const Unexpected& message);
  bool push_grant(int rank);
  bool push_waiting(int rank);
  bool push_piece(int rank);

  uint64_t self_unmatched_ = 0;
};

}  // namespace tutti::match
