// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The frames that an endpoint takes out of its rings. Frames of peers are checked before anything
// is done with them.
#include <algorithm>
#include <utility>

#include "core/clock.hpp"
#include "kernels/copy.hpp"
#include "transports/match/engine_steps.hpp"
#include "transports/shm/endpoint.hpp"

namespace tutti::shm {

// Frames that are handled before other peers have their turn: a part of a full ring.
constexpr int kFramesPerTurn = 64;

bool ShmEndpoint::drain(int rank, const Transfer* wanted) {
  Peer& from = peer(rank);
  for (int i = 0; i < kFramesPerTurn && from.failure.ok(); ++i) {
    // The cell is looked at last: that takes its line from the peer, who is to write it.
    if ((wanted != nullptr && wanted->done) || !from.in.ready()) break;
    const RingFrame frame = from.in.frame();
    if (!handle(rank, frame)) {
      fail(rank, Status::format(Code::kInternal,
                                "rank {} put nonsense into shared memory (frame of kind {}, {} "
                                "bytes): a stray write in its process?",
                                number_of(rank), static_cast<uint32_t>(frame.kind), frame.bytes));
    }
  }
  surroundings_.notifier.one(rank);  // it may wait for room
  return from.failure.ok();
}

// Takes one frame out of the ring; false if it makes no sense.
bool ShmEndpoint::handle(int rank, const RingFrame& frame) {
  switch (frame.kind) {
    case RingFrameKind::kEager: return handle_eager(rank, frame);
    case RingFrameKind::kRequest: handle_request(rank, frame); return true;
    case RingFrameKind::kGrant: return handle_grant(rank, frame);
    case RingFrameKind::kData: return handle_data(rank, frame);
    case RingFrameKind::kTaken: return handle_taken(rank, frame);
  }
  return false;
}

bool ShmEndpoint::handle_eager(int rank, const RingFrame& frame) {
  Peer& from = peer(rank);
  if (!from.in.can_be_eager(frame)) return false;
  rings_.map_in_data(from, rank, frame);
  eager_came(rank, frame.tag, frame.bytes,
             [&](std::byte* dst, uint64_t wanted, UnexpectedMessage* kept) {
               const bool is_long = frame.bytes > kEagerShmBytes;
               const Stopwatch stopwatch(is_long);
               from.in.copy(dst, frame, wanted);
               if (is_long) {
                 const double seconds = static_cast<double>(frame.id) * 1e-9 + stopwatch.seconds();
                 if (kept != nullptr) {
                   kept->seconds = seconds;
                 } else {
                   long_messages_.took_by_ring(from, frame.bytes, seconds);
                 }
               }
               from.in.pop(frame);
             });
  return true;
}

// An eager message that lies aside meets its receive.
void ShmEndpoint::take_kept(std::byte* dst, const UnexpectedMessage& message, uint64_t wanted) {
  const bool is_long = message.bytes > kEagerShmBytes;
  const Stopwatch stopwatch(is_long);
  copy_bytes(dst, message.data.get(), wanted, CopyHint::kTemporal);
  if (!is_long) return;
  const double seconds = message.seconds + stopwatch.seconds();
  long_messages_.took_by_ring(peer(message.source), message.bytes, seconds);
}

void ShmEndpoint::handle_request(int rank, const RingFrame& frame) {
  peer(rank).in.pop();
  UnexpectedMessage message;
  message.source = rank;
  message.tag = frame.tag;
  message.bytes = frame.bytes;
  message.sender = frame.id;
  message.address = frame.where;
  message.withdrawn = frame.withdrawn;
  request_came(std::move(message));
}

// The operation that a frame names, if it is in that state; null if it was cancelled.
PendingTransfer* ShmEndpoint::find(uint64_t id, int rank, State state) {
  PendingTransfer* const found = pool_.find(id, rank);
  return found != nullptr && found->state == state ? found : nullptr;
}

bool ShmEndpoint::handle_grant(int rank, const RingFrame& frame) {
  peer(rank).in.pop();
  PendingTransfer* const send = find(frame.id, rank, State::kRequested);
  if (send == nullptr) return true;
  if (frame.bytes > send->bytes) return false;
  --peer(rank).asked;
  if (frame.bytes == 0) {
    send_is_over(*send);
    return true;
  }
  send->limit = frame.bytes;
  send->partner = frame.tag;
  stream(*send);
  return true;
}

bool ShmEndpoint::handle_data(int rank, const RingFrame& frame) {
  Peer& from = peer(rank);
  if (!from.in.can_hold(frame)) return false;
  PendingTransfer* const receive = find(frame.tag, rank, State::kReceiving);
  if (receive == nullptr) {
    from.in.pop(frame);
    return true;
  }
  if (frame.bytes > receive->limit - receive->moved) return false;
  rings_.map_in_data(from, rank, frame);
  const Stopwatch work(surroundings_.oversubscribed);
  from.in.copy(receive->buffer + receive->moved, frame, frame.bytes, receive->non_temporal);
  receive->worked_s += 2 * work.seconds();  // the sender has had about as much
  from.in.pop(frame);
  receive->moved += frame.bytes;
  if (receive->has_more()) return true;
  if (receive->limit > kEagerShmBytes) {
    const Routes::Route route =
        receive->non_temporal ? Routes::Route::kRingNonTemporal : Routes::Route::kRing;
    long_messages_.note_received(from, *receive, route);
  }
  finish_granted(*receive);
  return true;
}

bool ShmEndpoint::handle_taken(int rank, const RingFrame& frame) {
  peer(rank).in.pop();
  PendingTransfer* const send = find(frame.id, rank, State::kRequested);
  if (send == nullptr) return true;
  if (frame.bytes > send->bytes) return false;
  --peer(rank).asked;
  send_is_over(*send);
  return true;
}

}  // namespace tutti::shm
