// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Sends and receives from their start to their end; frames are in endpoint_frames.cpp, what the
// provider does in endpoint_pieces.cpp.
#include "transports/frames/endpoint.hpp"

#include <algorithm>
#include <cstring>

namespace tutti::frames {
namespace {

// How long to wait for the network to let go of a buffer, before it is made to.
constexpr int64_t kLetGoMs = 500;
// How long an endpoint that closes waits for what its peers are still sending.
constexpr int64_t kGoodbyeMs = 100;

// Calls step() until it says that it is done. False: that took too long.
template <typename Step>
bool until(int64_t deadline_ms, const Step& step) {
  const Patience patience{0, UINT32_MAX, false};  // the pause is sched_yield()
  Waiter waiter;
  waiter.patience = &patience;
  waiter.deadline_ms = deadline_ms;
  waiter.uninterrupted = true;
  return wait_until(waiter, step) == WaitEnd::kReady;
}

}  // namespace

FrameEndpoint::FrameEndpoint(std::unique_ptr<Port> port,
                             std::shared_ptr<const std::vector<std::string>> names, int rank,
                             uint32_t cookie)
    : port_(std::move(port)),
      names_(std::move(names)),
      rank_(rank),
      cookie_(cookie),
      most_pieces_in_(most_pieces(*port_)),
      peers_(names_->size()),
      matching_(static_cast<int>(names_->size())) {}

FrameEndpoint::~FrameEndpoint() {
  say_goodbye();
  port_->close();  // which still takes in what comes, as long as there are buffers for it
}

bool FrameEndpoint::met_all() {
  const uint32_t rails = port_->rails();
  for (int r = 0; r < ranks(); ++r) {
    const Peer& other = peer(r);
    if (r != rank_ && (other.expected < rails || other.sent < rails || other.frames_out > 0))
      return false;
  }
  return true;
}

Status FrameEndpoint::greet(int64_t deadline_ms) {
  for (int r = rank_ + 1; r < ranks(); ++r) {
    peer(r).hellos_owed = port_->rails();
    make_busy(r);
  }
  const auto met_or_failed = [&] {
    while (poll_until(nullptr)) {
    }
    return met_all() || !closed_.ok() || std::any_of(peers_.begin(), peers_.end(), [](auto& other) {
             return !other.failure.ok();
           });
  };
  const bool in_time = until(deadline_ms, met_or_failed);
  if (!closed_.ok()) return closed_;
  for (int r = 0; r < ranks(); ++r) {
    if (!peer(r).failure.ok()) return peer(r).failure;
  }
  for (int r = 0; r < ranks() && !in_time; ++r) {
    const uint32_t hellos = peer(r).expected;  // those before it came over the rails before
    if (r == rank_ || hellos >= port_->rails()) continue;
    const std::string rail = port_->rails() > 1 ? fmt::format("rail {}, ", hellos) : "";
    return Status::format(Code::kTimeout, "{} was not reached in time over {}{}", name(r), rail,
                          port_->where_rail(hellos));
  }
  return {};
}

// ---- operations
// ----------------------------------------------------------------------------------

Operation& FrameEndpoint::begin(Transfer& transfer, int peer, Tag tag, const void* buffer,
                                uint64_t bytes) {
  if (free_.empty()) {
    Operation& added = operations_.emplace_back();
    added.index = static_cast<uint32_t>(operations_.size() - 1);
    free_.push(added);
  }
  Operation& operation = *free_.first();
  free_.remove(operation);
  operation.transfer = &transfer;
  operation.peer = peer;
  operation.tag = tag;
  operation.buffer = static_cast<std::byte*>(const_cast<void*>(buffer));
  operation.bytes = bytes;
  operation.limit = 0;
  operation.moved = 0;
  operation.begun = 0;
  operation.granted = 0;
  transfer.internal = &operation;
  return operation;
}

void FrameEndpoint::release(Operation& operation) {
  if (operation.transfer != nullptr) operation.transfer->internal = nullptr;
  operation.transfer = nullptr;
  operation.state = State::kFree;
  ++operation.generation;  // frames that still name it find nobody
  if (!operation.retired) free_.push(operation);
}

Operation* FrameEndpoint::find(uint64_t id, int rank) {
  const uint64_t index = id & 0xffffffff;
  if (index >= operations_.size()) return nullptr;
  Operation& operation = operations_[index];
  const bool is_it =
      operation.id() == id && operation.peer == rank && operation.state != State::kFree;
  return is_it ? &operation : nullptr;
}

// An operation without a transfer was cancelled: it ends when nothing is under way for it.
void FrameEndpoint::finish(Operation& operation, Status status) {
  Transfer* transfer = operation.transfer;
  release(operation);
  if (transfer != nullptr) match::end(*transfer, std::move(status));
}

void FrameEndpoint::finish_receive(Operation& receive, int source, Tag tag,
                                   uint64_t message_bytes) {
  if (receive.transfer == nullptr) return release(receive);
  finish(receive, match::received(*receive.transfer, receive.bytes, source, tag, message_bytes));
}

// ---- sending
// -------------------------------------------------------------------------------------

Status FrameEndpoint::refusal(int rank) const {
  if (rank >= 0 && rank < ranks()) {
    if (rank != rank_ && !closed_.ok()) return closed_;
    const Peer& to = peers_[static_cast<size_t>(rank)];
    if (!to.failure.ok() || !to.left) return to.failure;
    return {Code::kPeerFailed, name(rank) + " has destroyed its communicator"};
  }
  return Status::format(Code::kInvalidArgument, "there is no rank {}: expected 0 to {}", rank,
                        ranks() - 1);
}

void FrameEndpoint::send(int rank, Tag tag, const void* source, uint64_t bytes,
                         Transfer& transfer) {
  match::start(transfer);
  if (Status status = refusal(rank); !status.ok()) return match::end(transfer, std::move(status));
  if (rank == rank_) return send_to_self(tag, source, bytes, transfer);
  Operation& operation = begin(transfer, rank, tag, source, bytes);
  operation.state = State::kWaiting;
  peer(rank).waiting.push(operation);
  make_busy(rank);
  push(rank);
}

void FrameEndpoint::send_to_self(Tag tag, const void* source, uint64_t bytes, Transfer& transfer) {
  Message message;
  message.source = rank_;
  message.tag = tag;
  message.bytes = bytes;
  Operation& send = begin(transfer, rank_, tag, source, bytes);
  send.state = State::kLocal;
  message.local = &send;
  if (Operation* receive = matching_.take_posted(rank_, tag)) return deliver(*receive, message);
  auto kept = std::make_unique<Message>(std::move(message));
  if (bytes <= kEagerBytes && self_unmatched_ <= kUnmatchedBytes) {
    kept->local = nullptr;
    kept->eager = true;
    kept->data = std::make_unique<std::byte[]>(bytes);
    if (bytes > 0) std::memcpy(kept->data.get(), source, bytes);
    self_unmatched_ += bytes + sizeof(FrameHead);
    finish(send, {});
  }
  matching_.keep(std::move(kept));
}

// ---- receiving
// -----------------------------------------------------------------------------------

void FrameEndpoint::recv(int rank, Tag tag, Tag mask, void* dst, uint64_t bytes,
                         Transfer& transfer) {
  match::start(transfer);
  if (rank != kAnySource && (rank < 0 || rank >= ranks())) {
    return match::end(transfer, refusal(rank));
  }
  auto message = matching_.take_message(rank, tag, mask);
  if (message == nullptr) {
    const Status refused = rank != kAnySource ? refusal(rank) : closed_;
    if (!refused.ok()) return match::end(transfer, refused);
  }
  Operation& receive = begin(transfer, rank, tag, dst, bytes);
  receive.mask = mask;
  if (message == nullptr) return matching_.post(receive);
  deliver(receive, *message);
}

bool FrameEndpoint::recv_if_here(Tag tag, Tag mask, void* dst, uint64_t bytes, Transfer& transfer) {
  const auto message = matching_.take_message(kAnySource, tag, mask);
  if (message == nullptr && closed_.ok()) return false;
  match::start(transfer);
  if (message == nullptr) {
    match::end(transfer, closed_);
    return true;
  }
  Operation& receive = begin(transfer, message->source, tag, dst, bytes);
  receive.mask = mask;
  deliver(receive, *message);
  return true;
}

// A message that lies aside, or comes from this rank, meets its receive.
void FrameEndpoint::deliver(Operation& receive, const Message& message) {
  if (!message.eager && message.local == nullptr) {
    return grant(receive, message.source, message.sender, message.bytes, message.tag);
  }
  const std::byte* source = message.eager ? message.data.get() : message.local->buffer;
  const uint64_t wanted = std::min(message.bytes, receive.bytes);
  if (wanted > 0) std::memcpy(receive.buffer, source, wanted);
  if (message.local != nullptr) {
    finish(*message.local, {});
  } else if (message.source == rank_) {
    self_unmatched_ -= message.bytes + sizeof(FrameHead);
  } else {
    count_matched(message.source, message.bytes);
  }
  finish_receive(receive, message.source, message.tag, message.bytes);
}

// A message that was asked for meets its receive.
void FrameEndpoint::grant(Operation& receive, int source, uint64_t sender, uint64_t bytes,
                          Tag tag) {
  if (Status status = refusal(source); !status.ok()) return finish(receive, std::move(status));
  receive.peer = source;
  receive.partner = sender;
  receive.limit = std::min(bytes, receive.bytes);
  receive.transfer->bytes = bytes;  // until it is complete: of the message
  receive.transfer->tag = tag;
  receive.transfer->source = source;
  receive.rail = peer(source).next_rail;
  peer(source).next_rail += static_cast<uint32_t>((receive.limit + kPieceBytes - 1) / kPieceBytes);
  receive.state = State::kGranting;
  peer(source).grants.push(receive);
  make_busy(source);
  push(source);
}

// ---- giving up
// -----------------------------------------------------------------------------------

// The operation is in no queue afterwards.
void FrameEndpoint::leave_queue(Operation& operation) {
  switch (operation.state) {
    case State::kWaiting: peer(operation.peer).waiting.remove(operation); break;
    case State::kStreaming: peer(operation.peer).streams.remove(operation); break;
    case State::kGranting: peer(operation.peer).grants.remove(operation); break;
    case State::kPosted: matching_.unpost(operation); break;
    case State::kLocal: matching_.drop_local(rank_, operation); break;
    case State::kPulling:
    case State::kSending:
    case State::kRequested:
    case State::kReceiving:
    case State::kEnding:
    case State::kFree: break;
  }
}

// The provider is to let go of the operation's buffer; that takes until !in_flight().
void FrameEndpoint::withdraw(Operation& operation) {
  for (Request& request : requests_) {
    if (request.operation != &operation) continue;
    if (request.kind == Request::Kind::kFrameOut) request.operation = nullptr;  // has its own copy
    if (request.kind == Request::Kind::kPieceIn && !port_->closed()) {
      port_->cancel(request);
    }
  }
}

void FrameEndpoint::cancel(Transfer& transfer) {
  if (transfer.done || transfer.internal == nullptr) return;
  auto& operation = *static_cast<Operation*>(transfer.internal);
  const bool receives = operation.state == State::kGranting || operation.state == State::kReceiving;
  const bool drains = receives && operation.granted > 0;
  leave_queue(operation);
  withdraw(operation);
  operation.state = drains ? State::kReceiving : State::kEnding;
  operation.transfer = nullptr;
  transfer.internal = nullptr;
  // Pieces that nobody wants any more go on coming, to the sink.
  if (drains && sink_ == nullptr) sink_ = std::make_unique_for_overwrite<std::byte[]>(kPieceBytes);
  const bool let_go = until(now_ms() + kLetGoMs, [&] {
    if (!in_flight(operation)) return true;
    poll_until(nullptr);
    return !in_flight(operation);
  });
  if (!let_go) {
    close(Status::format(Code::kAborted,
                         "the endpoint was closed because a transfer with {} could not be taken "
                         "back within {} ms in any other way",
                         name(operation.peer), kLetGoMs));
  }
  if (operation.state == State::kEnding) return release(operation);
  if (operation.state != State::kReceiving) return;
  operation.state = State::kGranting;
  peer(operation.peer).grants.push(operation);
  make_busy(operation.peer);
}

// Ends all transfers with a peer.
void FrameEndpoint::fail(int rank, Status failure) {
  Peer& failing = peer(rank);
  if (!failing.failure.ok()) return;
  failing.failure = failure.with_context(name(rank));
  failing.early.clear();
  for (Operation& operation : operations_) {
    if (operation.state == State::kFree || operation.peer != rank) continue;
    const bool receives =
        operation.state == State::kGranting || operation.state == State::kReceiving;
    operation.retired = receives && operation.granted > operation.moved;
    leave_queue(operation);
    withdraw(operation);
    operation.state = State::kEnding;
    if (!in_flight(operation)) finish(operation, failing.failure);
  }
}

// Nothing more comes from that rank, and it takes nothing more. What is under way both sides know.
void FrameEndpoint::has_just_left(int rank, std::span<const std::byte> last_words) {
  peer(rank).left = true;
  peer(rank).last_words.assign(last_words.begin(), last_words.end());
  for (Operation& operation : operations_) {
    const bool waits = operation.state == State::kPosted || operation.state == State::kWaiting ||
                       operation.state == State::kRequested;
    if (!waits || operation.peer != rank) continue;
    leave_queue(operation);
    finish(operation, refusal(rank));
  }
}

void FrameEndpoint::leave(std::span<const std::byte> last_words) {
  last_words_.assign(last_words.begin(), last_words.end());
  for (int r = 0; r < ranks(); ++r) {
    if (r == rank_) continue;
    peer(r).owes_leave = true;
    make_busy(r);
    push(r);
  }
}

// The last resort: no buffer is touched any more, and nothing goes anywhere.
void FrameEndpoint::close(const Status& reason) {
  if (port_->closed()) return;
  port_->close();
  closed_ = reason;
  for (Request& request : requests_) request.operation = nullptr;
  for (Operation& operation : operations_) {
    if (operation.state == State::kFree || operation.state == State::kLocal) continue;
    if (operation.state == State::kPosted && operation.peer == rank_) continue;
    leave_queue(operation);
    finish(operation, closed_);
  }
  busy_.clear();
}

// Closing a connection while something is still coming in may lose what has gone out.
void FrameEndpoint::say_goodbye() {
  leaving_ = true;
  for (Operation& operation : operations_) {
    if (operation.state == State::kFree) continue;
    leave_queue(operation);
    withdraw(operation);
    operation.transfer = nullptr;
    operation.state = State::kEnding;
  }
  const auto met = [](const Peer& peer) { return peer.sent > 0 || peer.expected > 0; };
  until(now_ms() + kGoodbyeMs, [&] {
    if (port_->closed()) return true;
    poll_until(nullptr);
    bool over = true;
    for (int r = 0; r < ranks(); ++r) {
      Peer& to = peer(r);
      if (!met(to) || !to.failure.ok()) continue;
      FrameHead head{};
      head.kind = FrameKind::kGoodbye;
      if (!to.said_goodbye && !to.owes_leave)
        to.said_goodbye = push_frame(r, head, nullptr, nullptr);
      over = over && to.gone && (!to.said_goodbye || to.frames_out == 0);
    }
    return over;
  });
}

}  // namespace tutti::frames
