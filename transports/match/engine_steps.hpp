// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The steps of the engine, for the sources of a link, one of which instantiates it.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "kernels/copy.hpp"
#include "transports/match/engine.hpp"

namespace tutti::match {

// ---- operations ----

template <typename Link, typename Types>
typename Types::PendingTransfer& Engine<Link, Types>::begin(Transfer& transfer, int peer, Tag tag,
                                                            const void* buffer, uint64_t bytes) {
  Op& operation = pool_.take();
  operation.transfer = &transfer;
  operation.peer = peer;
  operation.tag = tag;
  operation.buffer = static_cast<std::byte*>(const_cast<void*>(buffer));
  operation.bytes = bytes;
  operation.renew();
  transfer.internal = &operation;
  return operation;
}

// The operation is in no queue afterwards.
template <typename Link, typename Types>
void Engine<Link, Types>::dequeue(Op& operation) {
  switch (operation.state) {
    case State::kWaiting: peer(operation.peer).waiting.remove(operation); break;
    case State::kStreaming: peer(operation.peer).streams.remove(operation); break;
    case State::kGranting: peer(operation.peer).grants.remove(operation); break;
    case State::kPosted: matching_.unpost(operation); break;
    case State::kLocal: matching_.drop_local(rank_, operation); break;
    case State::kRequested:
    case State::kReceiving:
    case State::kLinkOwned:
    case State::kFree: break;
  }
}

// ---- sending ----

// The reason why nothing goes to that rank.
template <typename Link, typename Types>
Status Engine<Link, Types>::refusal(int rank) {
  if (is_rank(rank)) return link().why_not(rank);
  return Status::format(Code::kInvalidArgument, "there is no rank {}: expected 0 to {}", rank,
                        ranks() - 1);
}

template <typename Link, typename Types>
void Engine<Link, Types>::send(int rank, Tag tag, const void* source, uint64_t bytes,
                               Transfer& transfer) {
  start(transfer);
  if (!is_rank(rank) || !link().is_up(rank)) [[unlikely]]
    return end(transfer, refusal(rank));
  if (rank == rank_) return send_to_self(tag, source, bytes, transfer);
  if (!transfer.synchronous && link().send_at_once(rank, tag, source, bytes))
    return end(transfer, {});
  Op& operation = begin(transfer, rank, tag, source, bytes);
  operation.state = State::kWaiting;
  peer(rank).waiting.push(operation);
  make_busy(rank);
  link().push(rank);
}

template <typename Link, typename Types>
void Engine<Link, Types>::send_to_self(Tag tag, const void* source, uint64_t bytes,
                                       Transfer& transfer) {
  Unexpected message;
  message.source = rank_;
  message.tag = tag;
  message.bytes = bytes;
  Op& send = begin(transfer, rank_, tag, source, bytes);
  send.state = State::kLocal;
  message.local = &send;
  if (Op* receive = matching_.take_posted(rank_, tag)) return deliver(*receive, message);
  auto kept = std::make_unique<Unexpected>(std::move(message));
  if (!transfer.synchronous && bytes <= Types::kEagerBytes && self_unmatched_ <= kUnmatchedBytes) {
    kept->local = nullptr;
    kept->eager = true;
    kept->data = std::make_unique<std::byte[]>(bytes);
    if (bytes > 0) std::memcpy(kept->data.get(), source, bytes);
    self_unmatched_ += bytes + Types::kMessageCost;
    finish(send, {});
  }
  matching_.keep(std::move(kept));
}

// ---- receiving ----

template <typename Link, typename Types>
void Engine<Link, Types>::recv(int rank, Tag tag, Tag mask, void* dst, uint64_t bytes,
                               Transfer& transfer) {
  start(transfer);
  if (rank != kAnySource && !is_rank(rank)) return end(transfer, refusal(rank));
  const auto message = matching_.take_message(rank, tag, mask);
  if (message == nullptr && !link().may_send(rank)) return end(transfer, link().why_not(rank));
  Op& receive = begin(transfer, rank, tag, dst, bytes);
  receive.mask = mask;
  if (message == nullptr) return matching_.post(receive);
  deliver(receive, *message);
}

template <typename Link, typename Types>
bool Engine<Link, Types>::recv_if_here(Tag tag, Tag mask, void* dst, uint64_t bytes,
                                       Transfer& transfer) {
  const auto message = matching_.take_message(kAnySource, tag, mask);
  if (message == nullptr && link().is_up(kAnySource)) return false;
  start(transfer);
  if (message == nullptr) {
    end(transfer, link().why_not(kAnySource));
    return true;
  }
  Op& receive = begin(transfer, message->source, tag, dst, bytes);
  receive.mask = mask;
  deliver(receive, *message);
  return true;
}

// A message that lies aside, or comes from this rank, meets its receive.
template <typename Link, typename Types>
void Engine<Link, Types>::deliver(Op& receive, const Unexpected& message) {
  if (!message.eager && message.local == nullptr) return begin_receiving(receive, message);
  const uint64_t wanted = std::min(message.bytes, receive.bytes);
  if (message.local != nullptr) {
    copy_bytes(receive.buffer, message.local->buffer, wanted, CopyHint::kTemporal);
    finish(*message.local, {});
  } else if (message.source == rank_) {
    copy_bytes(receive.buffer, message.data.get(), wanted, CopyHint::kTemporal);
    self_unmatched_ -= message.bytes + Types::kMessageCost;
  } else {
    link().take_kept(receive.buffer, message, wanted);
    link().count_matched(message.source, message.bytes);
  }
  finish_receive(receive, message.source, message.tag, message.bytes);
}

// A message that was asked for meets its receive.
template <typename Link, typename Types>
void Engine<Link, Types>::begin_receiving(Op& receive, const Unexpected& message) {
  const int source = message.source;
  if (!link().may_send(source)) return finish(receive, link().why_not(source));
  receive.peer = source;
  receive.partner = message.sender;
  receive.limit = std::min(message.bytes, receive.bytes);
  receive.transfer->sent = message.bytes;
  receive.transfer->tag = message.tag;
  receive.transfer->source = link().number_of(source);
  if (!link().begin_own_route(receive, message)) grant(receive);
}

template <typename Link, typename Types>
void Engine<Link, Types>::grant(Op& receive) {
  receive.moved = 0;
  receive.state = State::kGranting;
  peer(receive.peer).grants.push(receive);
  make_busy(receive.peer);
  link().push(receive.peer);
}

// An eager message has come. `take(dst, wanted, kept)` copies its beginning out of the link: into a
// receive or, if `kept` is not null, into memory aside.
template <typename Link, typename Types>
void Engine<Link, Types>::eager_came(int rank, Tag tag, uint64_t bytes, const auto& take) {
  if (Op* receive = matching_.take_posted(rank, tag)) {
    take(receive->buffer, std::min(bytes, receive->bytes), static_cast<Unexpected*>(nullptr));
    link().count_matched(rank, bytes);
    return finish_receive(*receive, rank, tag, bytes);
  }
  auto message = std::make_unique<Unexpected>();
  message->source = rank;
  message->tag = tag;
  message->bytes = bytes;
  message->eager = true;
  message->data = std::make_unique_for_overwrite<std::byte[]>(bytes);
  take(message->data.get(), bytes, message.get());
  matching_.keep(std::move(message));
}

template <typename Link, typename Types>
void Engine<Link, Types>::request_came(Unexpected&& message) {
  if (Op* receive = matching_.take_posted(message.source, message.tag)) {
    return begin_receiving(*receive, message);
  }
  matching_.keep(std::make_unique<Unexpected>(std::move(message)));
}

// ---- what goes out ----

template <typename Link, typename Types>
bool Engine<Link, Types>::push_busy() {
  bool moved = false;
  for (size_t i = 0; i < busy_.size();) {
    const int rank = busy_[i];
    moved |= link().advance(rank);
    if (i >= busy_.size()) break;  // the link was closed
    Peer& to = peer(rank);
    if (to.empty() && !link().owes(rank)) {
      to.busy = false;
      busy_[i] = busy_.back();
      busy_.pop_back();
    } else {
      ++i;
    }
  }
  return moved;
}

// One turn of the queues for that peer. Grants go first, for a whole message of the peer waits for
// each. Then go frames that begin a message, and a piece of one under way. Returns whether anything
// went.
template <typename Link, typename Types>
bool Engine<Link, Types>::push_turn(int rank) {
  bool moved = push_grant(rank);
  if (!moved && !peer(rank).waiting.empty()) moved = push_waiting(rank);
  if (!peer(rank).streams.empty()) moved |= push_piece(rank);
  return moved;
}

template <typename Link, typename Types>
bool Engine<Link, Types>::push_grant(int rank) {
  Op* const receive = peer(rank).grants.first();
  if (receive == nullptr) return false;
  if (const Put put = link().put_grant(*receive); put != Put::kYes) return put == Put::kOver;
  peer(rank).grants.remove(*receive);
  receive->state = State::kReceiving;
  if (receive->limit == 0) finish_granted(*receive);
  return true;
}

template <typename Link, typename Types>
bool Engine<Link, Types>::push_waiting(int rank) {
  Op& send = *peer(rank).waiting.first();
  const bool eager = !send.transfer->synchronous && link().may_be_eager(send);
  if (const Put put = link().put_first(send, eager); put != Put::kYes) return put == Put::kOver;
  peer(rank).waiting.remove(send);
  if (eager) {
    link().note_sent(send);
  } else {
    send.state = State::kRequested;
  }
  return true;
}

template <typename Link, typename Types>
bool Engine<Link, Types>::push_piece(int rank) {
  Op& send = *peer(rank).streams.first();
  if (const Put put = link().put_piece(send); put != Put::kYes) return put == Put::kOver;
  peer(rank).streams.remove(send);
  if (send.has_more()) {
    peer(rank).streams.push(send);
  } else {
    link().note_sent(send);
  }
  return true;
}

}  // namespace tutti::match
