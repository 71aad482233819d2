// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Sends and receives from their start to their end; the way through the rings is in
// endpoint_rings.cpp.
#include "transports/shm/endpoint.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/clock.hpp"
#include "kernels/copy.hpp"

namespace tutti::shm {

ShmEndpoint::ShmEndpoint(const Surroundings& surroundings, int rank, int channel)
    : region_(surroundings.region),
      layout_(surroundings.layout),
      notifier_(surroundings.notifier),
      arenas_(surroundings.arenas),
      readable_(surroundings.readable),
      numbers_(surroundings.numbers),
      crowded_(surroundings.crowded),
      rank_(rank),
      channel_(channel),
      peers_(static_cast<size_t>(layout_.ranks())),
      ways_(crowded_),
      doors_seen_(static_cast<size_t>(layout_.ranks() + 63) / 64),
      doors_(region_.at<std::atomic<uint64_t>>(layout_.door(channel, rank))),
      matching_(layout_.ranks()) {
  const uint64_t ranks = peers_.size();
  for (int r = 0; r < layout_.ranks(); ++r) {
    peer(r).out = RingWriter(ring_first_bytes(ranks), ring_data_bytes(ranks), peer(r).carriers,
                             surroundings.staging, crowded_);
    peer(r).in = RingReader(ring_data_bytes(ranks), peer(r).carriers);
    if (readable_.empty()) ways_of(r).give_up_reading();
  }
}

// ---- operations
// ----------------------------------------------------------------------------------

Operation& ShmEndpoint::begin(Transfer& transfer, int peer, Tag tag, const void* buffer,
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
  operation.moved = 0;
  transfer.internal = &operation;
  return operation;
}

void ShmEndpoint::release(Operation& operation) {
  operation.transfer->internal = nullptr;
  operation.transfer = nullptr;
  operation.state = State::kFree;
  ++operation.generation;  // frames that still name it find nobody
  free_.push(operation);
}

Operation* ShmEndpoint::find(uint64_t id, int rank, State state) {
  const uint64_t index = id & 0xffffffff;
  if (index >= operations_.size()) return nullptr;
  Operation& operation = operations_[index];
  const bool is_it = operation.id() == id && operation.peer == rank && operation.state == state;
  return is_it ? &operation : nullptr;
}

void ShmEndpoint::finish(Operation& operation, Status status) {
  Transfer& transfer = *operation.transfer;
  release(operation);
  end(transfer, std::move(status));
}

// A send that was asked for is over.
void ShmEndpoint::finish_send(Operation& send) {
  const int rank = send.peer;
  finish(send, {});
  if (peer(rank).uncounted) settle(rank, now_s());
}

// The receive has all it gets of a message.
void ShmEndpoint::finish_receive(Operation& receive, int source, Tag tag, uint64_t message_bytes) {
  finish(receive,
         match::received(*receive.transfer, receive.bytes, number_of(source), tag, message_bytes));
}

// ---- sending
// -------------------------------------------------------------------------------------

Status ShmEndpoint::refusal(int rank) const {
  const int ranks = layout_.ranks();
  if (rank >= 0 && rank < ranks) return peers_[static_cast<size_t>(rank)].failure;
  return Status::format(Code::kInvalidArgument, "there is no rank {}: expected 0 to {}", rank,
                        ranks - 1);
}

void ShmEndpoint::send(int rank, Tag tag, const void* source, uint64_t bytes, Transfer& transfer) {
  start(transfer);
  if (!may_talk_to(rank)) [[unlikely]]
    return end(transfer, refusal(rank));
  if (rank == rank_) return send_to_self(tag, source, bytes, transfer);
  Peer& to = peer(rank);
  sent_since_ |= bytes > kEagerBytes;
  // The common case needs no operation: the ring is open and has room.
  if (to.open_for(bytes) && need_not_ask(to, source, bytes) && to.waiting.empty() &&
      to.out.room(bytes)) {
    to.out.put(FrameKind::kEager, tag, static_cast<const std::byte*>(source), bytes);
    to.out.count_eager(bytes + kCacheLine);
    notifier_.one(rank);
    return end(transfer, {});
  }
  Operation& operation = begin(transfer, rank, tag, source, bytes);
  operation.state = State::kWaiting;
  to.waiting.push(operation);
  make_busy(rank);
  if (push(rank)) notifier_.one(rank);
}

void ShmEndpoint::send_to_self(Tag tag, const void* source, uint64_t bytes, Transfer& transfer) {
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
    self_unmatched_ += bytes + kCacheLine;
    finish(send, {});
  }
  matching_.keep(std::move(kept));
}

// ---- receiving
// -----------------------------------------------------------------------------------

void ShmEndpoint::recv(int rank, Tag tag, Tag mask, void* dst, uint64_t bytes, Transfer& transfer) {
  start(transfer);
  if (rank != kAnySource && (rank < 0 || rank >= layout_.ranks())) {
    return end(transfer, refusal(rank));
  }
  auto message = matching_.take_message(rank, tag, mask);
  if (message == nullptr && rank != kAnySource && !peer(rank).failure.ok()) {
    return end(transfer, peer(rank).failure);
  }
  Operation& receive = begin(transfer, rank, tag, dst, bytes);
  receive.mask = mask;
  if (message == nullptr) return matching_.post(receive);
  deliver(receive, *message);
}

bool ShmEndpoint::recv_if_here(Tag tag, Tag mask, void* dst, uint64_t bytes, Transfer& transfer) {
  const auto message = matching_.take_message(kAnySource, tag, mask);
  if (message == nullptr) return false;
  start(transfer);
  Operation& receive = begin(transfer, message->source, tag, dst, bytes);
  receive.mask = mask;
  deliver(receive, *message);
  return true;
}

// A message that lies aside, or comes from this rank, meets its receive.
void ShmEndpoint::deliver(Operation& receive, const Message& message) {
  if (!message.eager && message.local == nullptr) return begin_receiving(receive, message);
  const std::byte* source = message.eager ? message.data.get() : message.local->buffer;
  const uint64_t wanted = std::min(message.bytes, receive.bytes);
  const bool is_long = message.eager && message.bytes > kEagerBytes;
  const Stopwatch stopwatch(is_long);
  copy_bytes(receive.buffer, source, wanted, CopyWay::kToOthers);
  if (message.local != nullptr) {
    finish(*message.local, {});
  } else if (message.source == rank_) {
    self_unmatched_ -= message.bytes + kCacheLine;
  } else {
    peer(message.source).in.count_matched(message.bytes + kCacheLine);
    const double seconds = message.seconds + stopwatch.seconds();
    if (is_long) took(message.source, Ways::Way::kRing, message.bytes, seconds);
  }
  finish_receive(receive, message.source, message.tag, message.bytes);
}

// A message that was asked for meets its receive.
void ShmEndpoint::begin_receiving(Operation& receive, const Message& message) {
  const int source = message.source;
  if (Status status = refusal(source); !status.ok()) return finish(receive, std::move(status));
  receive.peer = source;
  receive.partner = message.sender;
  receive.limit = std::min(message.bytes, receive.bytes);
  receive.address = message.address;
  receive.withdrawn = message.withdrawn;
  receive.past_caches = false;
  receive.transfer->bytes = message.bytes;  // until it is complete: of the message
  receive.transfer->tag = message.tag;
  receive.transfer->source = number_of(source);
  if (receive.limit <= kEagerBytes) return grant(receive);
  receive.begun_s = now_s();
  receive.worked_s = 0;
  receive.seen = arenas_.view(source, receive.address, receive.limit);
  if (receive.seen == nullptr) {
    const Ways::Way way = way_of(source, receive.limit);
    receive.past_caches = way == Ways::Way::kRingPastCaches;
    if (way != Ways::Way::kRead) return grant(receive);
  }
  receive.state = State::kPulling;
  peer(source).pulls.push(receive);
  make_busy(source);
}

// By which a message from that peer comes.
Ways::Way ShmEndpoint::way_of(int source, uint64_t bytes) {
  Peer& from = peer(source);
  const Ways& ways = ways_of(source);
  if (!from.has_sends() || source > rank_ || !ways.can_read()) return ways.better(bytes);
  return from.out.peer_takes_by_ring(bytes) ? ways.better_by_ring(bytes) : Ways::Way::kRead;
}

// Tells the sender how much is wanted.
void ShmEndpoint::grant(Operation& receive) {
  receive.moved = 0;
  receive.state = State::kGranting;
  peer(receive.peer).grants.push(receive);
  make_busy(receive.peer);
  if (push(receive.peer)) notifier_.one(receive.peer);
}

// A long message is here. If others go the other way meanwhile, it counts when the first of these
// has gone, too (Received).
void ShmEndpoint::count(const Operation& receive, Ways::Way way) {
  if (crowded_) return took(receive.peer, way, receive.limit, work_of(receive, way));
  Peer& from = peer(receive.peer);
  const double now = now_s();
  from.uncounted = {way, receive.limit, receive.begun_s, now};
  if (!from.has_sends()) settle(receive.peer, now);
}

void ShmEndpoint::settle(int rank, double now) {
  const Received received = *std::exchange(peer(rank).uncounted, std::nullopt);
  took(rank, received.way, received.bytes, received.seconds(now));
}

// How much work a message has been. Ranks that share cores wait for each other's turns, in which
// others get on: of theirs, only the work counts, and what they miss by reading.
double ShmEndpoint::work_of(const Operation& receive, Ways::Way way) {
  const bool fits = receive.limit <= peer(receive.peer).out.piece_bytes();
  // Who passes on piece by piece gives its core away after each, and finds its caches used. Without
  // this, 4 ranks on 2 cores that pass on 4 MiB in huge pages did so by both ways, as each of them
  // happened to have found out: 0.77 ms, where reading alone takes 0.54 and the ring 0.92.
  constexpr double kPieces = 1.25;
  if (way != Ways::Way::kRead) return receive.worked_s * (fits ? 1 : kPieces);
  // Who only receives, from several, leaves the cores of the others idle by reading.
  constexpr double kWorkNotShared = 1.5;
  const bool from_several = last_long_from_ != receive.peer;
  if (!sent_since_) return receive.worked_s * (from_several ? kWorkNotShared : 1);
  if (!fits) return receive.worked_s;
  // Who sends as well makes several calls in one turn where messages fit the ring, but not where
  // peers read them: on 2 cores, 8 ranks that pass on 128 KiB took 1.7 times as long where every
  // fourth message was read that was less work to read. Of longer ones the ring holds so few that
  // only the turn itself is lost: where neighbours are on different cores and pages are huge, 4
  // ranks that pass on 256 KiB then take 31 us instead of 48, 8 ranks 64 instead of 84.
  constexpr uint64_t kMostOfMany = 128 << 10;
  constexpr double kTurnsLost = 3;
  constexpr double kTurn_s = 4e-6;
  const bool many = receive.limit <= kMostOfMany;
  return many ? receive.worked_s * kTurnsLost : receive.worked_s + kTurn_s;
}

// A long message from that peer is here.
void ShmEndpoint::took(int rank, Ways::Way way, uint64_t bytes, double seconds) {
  sent_since_ = false;
  last_long_from_ = rank;
  Ways& ways = ways_of(rank);
  ways.took(way, bytes, seconds);
  peer(rank).in.tell(ways);
}

// ---- giving up
// -----------------------------------------------------------------------------------

void ShmEndpoint::cancel(Transfer& transfer) {
  if (transfer.done || transfer.internal == nullptr) return;
  auto& operation = *static_cast<Operation*>(transfer.internal);
  switch (operation.state) {
    case State::kWaiting: peer(operation.peer).waiting.remove(operation); break;
    case State::kStreaming: peer(operation.peer).streams.remove(operation); break;
    case State::kGranting: peer(operation.peer).grants.remove(operation); break;
    case State::kPulling:
      peer(operation.peer).pulls.remove(operation);
      if (open_ring(operation.peer, 0).ok() && peer(operation.peer).out.room(0)) {
        tell_taken(operation);
      }
      break;
    case State::kRequested:
      --peer(operation.peer).asked;
      peer(operation.peer).out.withdraw();
      break;
    case State::kPosted: matching_.unpost(operation); break;
    case State::kLocal: matching_.drop_local(rank_, operation); break;
    case State::kSending:
    case State::kReceiving:
    case State::kEnding:
    case State::kFree: break;
  }
  release(operation);
}

// The peer wrote nonsense: ends all transfers with it.
void ShmEndpoint::fail(int rank, Status failure) {
  peer(rank).failure = std::move(failure);
  for (Operation& operation : operations_) {
    if (operation.state == State::kFree || operation.peer != rank) continue;
    Transfer& transfer = *operation.transfer;
    cancel(transfer);
    end(transfer, peer(rank).failure);
  }
}

}  // namespace tutti::shm
