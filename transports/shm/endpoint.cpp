// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The frames that an endpoint puts into its rings, and the messages that it reads where they lie.
#include "transports/shm/endpoint.hpp"

#include <algorithm>
#include <utility>

#include "core/clock.hpp"
#include "kernels/copy.hpp"
#include "transports/match/engine_steps.hpp"
#include "transports/names.hpp"
#include "transports/shm/pull.hpp"

template class tutti::match::Engine<tutti::shm::ShmEndpoint, tutti::shm::Types>;

namespace tutti::shm {

ShmEndpoint::ShmEndpoint(const Surroundings& surroundings, int rank, int channel)
    : Engine(rank, surroundings.layout.ranks()),
      surroundings_(surroundings),
      rings_(surroundings, rank, channel),
      long_messages_(surroundings.oversubscribed, surroundings.can_pull),
      departures_(surroundings.region.at<Departures>(surroundings.layout.departures())->count) {
  for (Peer& peer : peers_) rings_.prepare(peer);
}

Status ShmEndpoint::why_not(int rank) const {
  if (rank == kAnySource) {
    return all_have_left() ? Status{Code::kPeerFailed, std::string(kAllHaveLeft)} : Status{};
  }
  if (!peer(rank).failure.ok() || !has_left(rank)) return peer(rank).failure;
  const PeerProcess& process = surroundings_.processes[static_cast<size_t>(rank)];
  return {Code::kPeerFailed, name_of(number_of(rank), process) + " has destroyed its communicator"};
}

bool ShmEndpoint::poll_until(const Transfer* wanted) {
  if (move(wanted)) return true;
  return departures_.load(std::memory_order_relaxed) != departures_seen_ && note_departures();
}

bool ShmEndpoint::move(const Transfer* wanted) {
  const auto is_done = [wanted] { return wanted != nullptr && wanted->done; };
  bool moved = false;
  if (incoming_.size() + 1 < peers_.size()) {
    moved = rings_.find_new([this](int rank) {
      Status mapped = rings_.map(peer(rank), rank);
      if (!mapped.ok()) return fail(rank, std::move(mapped));
      incoming_.push_back(rank);
    });
  }
  for (size_t i = 0; i < incoming_.size() && !is_done(); ++i) {
    const int rank = incoming_[i];
    if (peer(rank).in.ready()) moved |= drain(rank, wanted);
  }
  if (!busy_.empty()) moved |= push_busy();
  return moved;
}

// ---- who leaves ----

void ShmEndpoint::leave(std::span<const std::byte> last_words) {
  Departure& own = departure(rank_);
  if (own.left.load(std::memory_order_relaxed) != 0) return;  // said on another channel
  own.bytes = static_cast<uint32_t>(std::min(last_words.size(), kMostLastWords));
  std::copy_n(last_words.begin(), own.bytes, own.last_words);
  // Counted first: whoever is killed in between has died, and is looked for until that is known.
  departures_.fetch_add(1, std::memory_order_relaxed);
  own.left.store(1, std::memory_order_release);
  surroundings_.notifier.all();
  // At least one of two ranks that leave at the same time sees all of the other's.
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

std::span<const std::byte> ShmEndpoint::last_words_of(int rank) const {
  const Departure& its = departure(rank);
  if (its.left.load(std::memory_order_acquire) == 0) return {};
  return {its.last_words, std::min<size_t>(its.bytes, kMostLastWords)};
}

// All that a rank sent before it left is seen with its departure: it is taken in first.
bool ShmEndpoint::note_departures() {
  std::vector<int> leavers;
  departures_seen_ = 0;
  for (int r = 0; r < ranks(); ++r) {
    if (departure(r).left.load(std::memory_order_acquire) == 0) continue;
    ++departures_seen_;
    if (r != rank_ && !has_left(r)) leavers.push_back(r);
  }
  if (leavers.empty()) return false;
  while (move(nullptr)) {
  }
  for (const int leaver : leavers) note_left(leaver);
  return true;
}

// ---- what goes into the rings ----

// The common case: the ring is open and has room.
bool ShmEndpoint::send_at_once(int rank, Tag tag, const void* source, uint64_t bytes) {
  Peer& to = peer(rank);
  if (!to.open_for(bytes) || !need_not_ask(to, source, bytes) || !to.waiting.empty() ||
      !to.out.room(bytes)) {
    return false;
  }
  put_eager(to, tag, source, bytes);
  surroundings_.notifier.one(rank);
  return true;
}

void ShmEndpoint::put_eager(Peer& to, Tag tag, const void* source, uint64_t bytes) {
  to.out.put(RingFrameKind::kEager, tag, static_cast<const std::byte*>(source), bytes);
  to.out.count_eager(bytes + Types::kMessageCost);
}

bool ShmEndpoint::may_be_eager(const PendingTransfer& send) {
  Peer& to = peer(send.peer);
  return rings_.map(to, send.peer).ok() && need_not_ask(to, send.buffer, send.bytes);
}

// Whether a frame with so many bytes of payload may be put for an operation, which fails if the
// ring cannot have the memory.
Put ShmEndpoint::room_for(PendingTransfer& operation, uint64_t payload) {
  Peer& to = peer(operation.peer);
  Status opened = rings_.open(to, operation.peer, payload);
  if (opened.ok()) return to.out.room(payload) ? Put::kYes : Put::kNotNow;
  return refuse(operation, std::move(opened));
}

Put ShmEndpoint::refuse(PendingTransfer& operation, Status why) {
  take_from_queue(operation);
  finish(operation, std::move(why));
  return Put::kOver;
}

Put ShmEndpoint::put_first(PendingTransfer& send, bool eager) {
  Peer& to = peer(send.peer);
  const bool left = has_left(send.peer);  // it takes what there is room for, as it did before
  const Put room = left && !eager ? Put::kNotNow : room_for(send, eager ? send.bytes : 0);
  if (left && room == Put::kNotNow) return refuse(send, why_not(send.peer));
  if (room != Put::kYes) return room;
  if (eager) {
    put_eager(to, send.tag, send.buffer, send.bytes);
  } else {
    to.out.put(RingFrameKind::kRequest, send.tag, send.bytes, send.id(), send.buffer);
    ++to.asked;
  }
  return Put::kYes;
}

Put ShmEndpoint::put_grant(PendingTransfer& receive) {
  if (const Put room = room_for(receive, 0); room != Put::kYes) return room;
  peer(receive.peer).out.put(RingFrameKind::kGrant, receive.id(), receive.limit, receive.partner);
  return Put::kYes;
}

Put ShmEndpoint::put_piece(PendingTransfer& send) {
  Peer& to = peer(send.peer);
  const uint64_t bytes = std::min(to.out.area().most_at_once(), send.limit - send.moved);
  if (const Put room = room_for(send, bytes); room != Put::kYes) return room;
  to.out.put(RingFrameKind::kData, send.partner, send.buffer + send.moved, bytes);
  send.moved += bytes;
  return Put::kYes;
}

void ShmEndpoint::note_sent(PendingTransfer& send) {
  if (send.state == State::kStreaming) return send_is_over(send);
  finish(send, {});
}

// A send that was asked for.
void ShmEndpoint::send_is_over(PendingTransfer& send) {
  const int rank = send.peer;
  finish(send, {});
  long_messages_.note_sent(peer(rank));
}

bool ShmEndpoint::push(int rank) {
  Peer& to = peer(rank);
  bool moved = false;
  while (push_turn(rank)) moved = true;
  if (!to.out.sound() && to.failure.ok()) {
    fail(rank, Status::format(Code::kInternal,
                              "rank {} put nonsense into shared memory (credits): a stray write in "
                              "its process?",
                              number_of(rank)));
  }
  if (moved) surroundings_.notifier.one(rank);
  return moved;
}

bool ShmEndpoint::advance(int rank) {
  const bool pulled = pull_piece(rank);
  return push(rank) || pulled;
}

// ---- messages that are read where they lie ----

// Reads the message where it lies, unless the ring is faster.
bool ShmEndpoint::begin_own_route(PendingTransfer& receive, const UnexpectedMessage& message) {
  const int source = message.source;
  Peer& from = peer(source);
  receive.address = message.address;
  receive.withdrawn = message.withdrawn;
  receive.non_temporal = false;
  if (receive.limit <= kEagerShmBytes) return false;
  receive.begun_s = now_s();
  receive.worked_s = 0;
  receive.seen = surroundings_.arenas.mapped(source, receive.address, receive.limit);
  if (receive.seen == nullptr) {
    const Routes::Route route = long_messages_.route_of(from, source > rank_, receive.limit);
    receive.non_temporal = route == Routes::Route::kRingNonTemporal;
    if (route != Routes::Route::kRead) return false;
  }
  receive.state = State::kLinkOwned;
  from.pulls.push(receive);
  make_busy(source);
  return true;
}

bool ShmEndpoint::read_piece(const PendingTransfer& receive, uint64_t bytes) {
  std::byte* const dst = receive.buffer + receive.moved;
  if (receive.seen != nullptr) {
    copy_bytes(dst, receive.seen + receive.moved, bytes, CopyHint::kTemporal);
    return true;
  }
  const int pid = surroundings_.processes[static_cast<size_t>(receive.peer)].pid;
  const bool read = read_process(pid, dst, receive.address + receive.moved, bytes).ok();
  if (!read) long_messages_.routes_of(peer(receive.peer)).give_up_reading();
  return read;
}

// Others have their turn then; a longer read gains nothing.
constexpr uint64_t kPulledAtOnceBytes = 8 << 20;

// Reads a piece of the next such message. If that fails, the message comes through the ring.
bool ShmEndpoint::pull_piece(int rank) {
  Peer& from = peer(rank);
  PendingTransfer* const receive = from.pulls.first();
  if (receive == nullptr) return false;
  const uint64_t bytes = std::min(kPulledAtOnceBytes, receive->limit - receive->moved);
  const bool last = receive->moved + bytes == receive->limit;
  const Put room = room_for(*receive, 0);
  if (room == Put::kOver || (last && room == Put::kNotNow)) return room == Put::kOver;
  from.pulls.remove(*receive);
  const Stopwatch work(surroundings_.oversubscribed);
  const bool read = read_piece(*receive, bytes);
  if (!read || (last && !from.in.none_withdrawn_since(receive->withdrawn))) {
    grant(*receive);
    return true;
  }
  receive->worked_s += work.seconds();
  receive->moved += bytes;
  if (!last) {
    from.pulls.push(*receive);
    return true;
  }
  if (receive->seen == nullptr) long_messages_.note_received(from, *receive, Routes::Route::kRead);
  tell_taken(*receive);
  finish_granted(*receive);
  return true;
}

// The sender has its buffer back. Needs room.
void ShmEndpoint::tell_taken(const PendingTransfer& receive) {
  peer(receive.peer).out.put(RingFrameKind::kTaken, receive.id(), receive.limit, receive.partner);
  surroundings_.notifier.one(receive.peer);
}

// ---- giving up ----

// The operation is in no queue afterwards.
void ShmEndpoint::take_from_queue(PendingTransfer& operation) {
  if (operation.state == State::kLinkOwned) return peer(operation.peer).pulls.remove(operation);
  dequeue(operation);
}

void ShmEndpoint::take_back(PendingTransfer& operation) {
  take_from_queue(operation);
  if (operation.state == State::kLinkOwned) {
    Peer& from = peer(operation.peer);
    if (rings_.open(from, operation.peer, 0).ok() && from.out.room(0)) tell_taken(operation);
  } else if (operation.state == State::kRequested) {
    --peer(operation.peer).asked;
    peer(operation.peer).out.withdraw();
  }
  release(operation);
}

void ShmEndpoint::abandon(PendingTransfer& operation) {
  Transfer& transfer = *operation.transfer;
  const int rank = operation.peer;
  take_back(operation);
  match::end(transfer, why_not(rank));
}

}  // namespace tutti::shm
