// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What an endpoint puts into its rings and takes out of them. Frames of peers are checked before
// anything is done with them.
#include <algorithm>
#include <bit>

#include "core/clock.hpp"
#include "transports/shm/endpoint.hpp"
#include "transports/shm/pull.hpp"

namespace tutti::shm {
namespace {

// Of a message that is read where it lies: others have their turn in between, after some 2 ms. In
// pieces of 256 KiB, messages of 1 to 16 MiB took up to a quarter longer.
constexpr uint64_t kPulledAtOnce = 8 << 20;
// Frames taken from one peer before others have their turn.
constexpr int kFramesPerTurn = 64;

bool is_done(const Transfer* wanted) { return wanted != nullptr && wanted->done; }

}  // namespace

bool ShmEndpoint::poll_until(const Transfer* wanted) {
  bool moved = open_new_rings();
  for (size_t i = 0; i < incoming_.size() && !is_done(wanted); ++i) {
    const int rank = incoming_[i];
    if (peer(rank).in.ready()) moved |= drain(rank, wanted);
  }
  if (!busy_.empty()) moved |= push_busy();
  return moved;
}

bool ShmEndpoint::open_new_rings() {
  if (incoming_.size() + 1 == peers_.size()) return false;
  bool found = false;
  for (size_t word = 0; word < doors_seen_.size(); ++word) {
    uint64_t fresh = doors_[word].load(std::memory_order_acquire) & ~doors_seen_[word];
    if (fresh == 0) continue;
    doors_seen_[word] |= fresh;
    for (; fresh != 0; fresh &= fresh - 1) {
      const int rank = static_cast<int>(word) * 64 + std::countr_zero(fresh);
      if (rank >= layout_.ranks() || rank == rank_) continue;
      found = true;
      if (Status mapped = map_rings(rank); mapped.ok()) {
        incoming_.push_back(rank);
      } else {
        fail(rank, std::move(mapped));
      }
    }
  }
  return found;
}

// ---- in
// ------------------------------------------------------------------------------------------

bool ShmEndpoint::drain(int rank, const Transfer* wanted) {
  Peer& from = peer(rank);
  for (int i = 0; i < kFramesPerTurn && from.failure.ok(); ++i) {
    // In this order: a look at the next cell takes its line from the peer, who is to write it.
    if (is_done(wanted) || !from.in.ready()) break;
    const Frame frame = from.in.frame();
    if (!handle(rank, frame)) {
      fail(rank, Status::format(Code::kInternal,
                                "rank {} put nonsense into shared memory (frame of kind {}, {} "
                                "bytes): a stray write in its process?",
                                number_of(rank), static_cast<uint32_t>(frame.kind), frame.bytes));
    }
  }
  notifier_.one(rank);  // it may wait for room
  return from.failure.ok();
}

// Takes one frame out of the ring; false if it makes no sense.
bool ShmEndpoint::handle(int rank, const Frame& frame) {
  switch (frame.kind) {
    case FrameKind::kEager: return handle_eager(rank, frame);
    case FrameKind::kRequest: handle_request(rank, frame); return true;
    case FrameKind::kGrant: return handle_grant(rank, frame);
    case FrameKind::kData: return handle_data(rank, frame);
    case FrameKind::kTaken: return handle_taken(rank, frame);
  }
  return false;
}

bool ShmEndpoint::handle_eager(int rank, const Frame& frame) {
  RingReader& in = peer(rank).in;
  if (!in.can_be_eager(frame)) return false;
  map_in_data(rank, frame);
  const bool is_long = frame.bytes > kEagerBytes;
  const Stopwatch stopwatch(is_long);
  const auto seconds = [&] { return static_cast<double>(frame.id) * 1e-9 + stopwatch.seconds(); };
  if (Operation* receive = matching_.take_posted(rank, frame.tag)) {
    in.copy(receive->buffer, frame, std::min(frame.bytes, receive->bytes));
    if (is_long) took(rank, Ways::Way::kRing, frame.bytes, seconds());
    in.count_matched(frame.bytes + kCacheLine);
    in.pop(frame);
    finish_receive(*receive, rank, frame.tag, frame.bytes);
    return true;
  }
  auto message = std::make_unique<Message>();
  message->source = rank;
  message->tag = frame.tag;
  message->bytes = frame.bytes;
  message->eager = true;
  message->data = std::make_unique_for_overwrite<std::byte[]>(frame.bytes);
  in.copy(message->data.get(), frame, frame.bytes);
  if (is_long) message->seconds = seconds();
  in.pop(frame);
  matching_.keep(std::move(message));
  return true;
}

// Before the first look at that part of the data area of its ring. The producer has got memory up
// to a power of two, and for no less than what is used at first.
void ShmEndpoint::map_in_data(int rank, const Frame& frame) {
  Peer& from = peer(rank);
  if (frame.bytes <= kInlineBytes || frame.in_carrier() ||
      from.in.end_of(frame) <= from.in_mapped) {
    return;
  }
  from.in_mapped = std::max(std::bit_ceil(from.in.end_of(frame)), ring_first_bytes(peers_.size()));
  const uint64_t ring = layout_.ring(channel_, rank, rank_).offset;
  from.rings.map_in({ring, kRingHeadBytes + from.in_mapped});
}

void ShmEndpoint::handle_request(int rank, const Frame& frame) {
  peer(rank).in.pop();
  Message message;
  message.source = rank;
  message.tag = frame.tag;
  message.bytes = frame.bytes;
  message.sender = frame.id;
  message.address = frame.where;
  message.withdrawn = frame.withdrawn;
  if (Operation* receive = matching_.take_posted(rank, frame.tag)) {
    return begin_receiving(*receive, message);
  }
  matching_.keep(std::make_unique<Message>(std::move(message)));
}

bool ShmEndpoint::handle_grant(int rank, const Frame& frame) {
  peer(rank).in.pop();
  Operation* send = find(frame.id, rank, State::kRequested);
  if (send == nullptr) return true;  // it was cancelled
  if (frame.bytes > send->bytes) return false;
  --peer(rank).asked;
  if (frame.bytes == 0) {
    finish_send(*send);
    return true;
  }
  send->limit = frame.bytes;
  send->partner = frame.tag;
  send->state = State::kStreaming;
  peer(rank).streams.push(*send);
  make_busy(rank);
  return true;
}

bool ShmEndpoint::handle_data(int rank, const Frame& frame) {
  RingReader& in = peer(rank).in;
  if (!in.can_hold(frame)) return false;
  Operation* receive = find(frame.tag, rank, State::kReceiving);
  if (receive == nullptr) {  // it was cancelled
    in.pop(frame);
    return true;
  }
  if (frame.bytes > receive->limit - receive->moved) return false;
  map_in_data(rank, frame);
  const Stopwatch work(crowded_);
  in.copy(receive->buffer + receive->moved, frame, frame.bytes, receive->past_caches);
  receive->worked_s += 2 * work.seconds();  // the sender has had about as much
  in.pop(frame);
  receive->moved += frame.bytes;
  if (receive->moved == receive->limit) {
    if (receive->limit > kEagerBytes) {
      const Ways::Way way = receive->past_caches ? Ways::Way::kRingPastCaches : Ways::Way::kRing;
      count(*receive, way);
    }
    finish_receive(*receive, rank, receive->transfer->tag, receive->transfer->bytes);
  }
  return true;
}

bool ShmEndpoint::handle_taken(int rank, const Frame& frame) {
  peer(rank).in.pop();
  Operation* send = find(frame.id, rank, State::kRequested);
  if (send == nullptr) return true;  // it was cancelled
  if (frame.bytes > send->bytes) return false;
  --peer(rank).asked;
  finish_send(*send);
  return true;
}

// ---- out
// -----------------------------------------------------------------------------------------

void ShmEndpoint::make_busy(int rank) {
  if (peer(rank).busy) return;
  peer(rank).busy = true;
  busy_.push_back(rank);
}

bool ShmEndpoint::push_busy() {
  bool moved = false;
  for (size_t i = 0; i < busy_.size();) {
    const int rank = busy_[i];
    bool more = pull_piece(rank);
    more |= push(rank);
    if (more) notifier_.one(rank);
    moved |= more;
    Peer& to = peer(rank);
    if (to.waiting.empty() && to.grants.empty() && to.pulls.empty() && to.streams.empty()) {
      to.busy = false;
      busy_[i] = busy_.back();
      busy_.pop_back();
    } else {
      ++i;
    }
  }
  return moved;
}

// Sends what there is room for: grants first, for a peer's whole message waits for each; then, in
// turns, what begins a message and a piece of one under way.
bool ShmEndpoint::push(int rank) {
  Peer& to = peer(rank);
  bool moved = false;
  for (bool more = true; more;) {
    more = push_grant(rank);
    if (!more && !to.waiting.empty()) more = push_waiting(rank);
    if (!to.streams.empty()) more |= push_piece(rank);
    moved |= more;
  }
  if (!to.out.sound() && to.failure.ok()) {
    fail(rank, Status::format(Code::kInternal,
                              "rank {} put nonsense into shared memory (credits): a stray write in "
                              "its process?",
                              number_of(rank)));
  }
  return moved;
}

// Of both directions, in one go.
Status ShmEndpoint::map_rings(int rank) {
  Peer& with = peer(rank);
  if (with.rings.is_open()) return {};
  auto mapped = region_.map(layout_.pair(channel_, rank_, rank));
  if (!mapped.ok()) {
    return mapped.status().with_context(fmt::format("messages with rank {}", number_of(rank)));
  }
  with.rings = *std::move(mapped);
  with.out.lie_in(with.rings.at<RingMemory>(layout_.ring(channel_, rank_, rank)));
  with.in.lie_in(with.rings.at<RingMemory>(layout_.ring(channel_, rank, rank_)));
  if (crowded_) return {};  // caches have the lines of all
  const Span mine = layout_.carrier(channel_, rank_, rank);
  auto* const own = with.rings.at<std::byte>(mine);
  auto* const other = with.rings.at<std::byte>(layout_.carrier(channel_, rank, rank_));
  with.carriers =
      rank_ < rank ? Carriers(own, other, mine.bytes, 0) : Carriers(other, own, mine.bytes, 1);
  return {};
}

// Gets memory for the ring up to what a frame with so many bytes of payload needs.
Status ShmEndpoint::open_ring(int rank, uint64_t payload) {
  Peer& to = peer(rank);
  if (to.open_for(payload)) return {};
  TUTTI_RETURN_IF_ERROR(map_rings(rank));
  const uint64_t reach = payload <= kInlineBytes ? 0 : to.out.reach_for(payload);
  const Span part{layout_.ring(channel_, rank_, rank).offset, kRingHeadBytes + reach};
  TUTTI_RETURN_IF_ERROR(reserve_for(rank, part));
  // This rank's carrier is written before the peer's comes.
  const Span carrier = layout_.carrier(channel_, rank_, rank);
  const bool opens_carrier = reach > 0 && !crowded_;
  if (opens_carrier) TUTTI_RETURN_IF_ERROR(reserve_for(rank, carrier));
  if (!to.out_open) {
    auto* doors = region_.at<std::atomic<uint64_t>>(layout_.door(channel_, rank));
    doors[rank_ / 64].fetch_or(uint64_t{1} << (rank_ % 64), std::memory_order_release);
  }
  to.out_open = true;
  if (opens_carrier) to.rings.map_in(carrier);
  if (reach > 0) {
    to.rings.map_in(part);
    to.out.extend(reach);
  }
  return {};
}

bool ShmEndpoint::push_grant(int rank) {
  Peer& to = peer(rank);
  Operation* receive = to.grants.first();
  if (receive == nullptr) return false;
  const Status opened = open_ring(rank, 0);
  if (opened.ok() && !to.out.room(0)) return false;
  to.grants.remove(*receive);
  if (!opened.ok()) {
    finish(*receive, opened);
    return true;
  }
  to.out.put(FrameKind::kGrant, receive->id(), receive->limit, receive->partner);
  receive->state = State::kReceiving;
  if (receive->limit == 0) {
    finish_receive(*receive, rank, receive->transfer->tag, receive->transfer->bytes);
  }
  return true;
}

bool ShmEndpoint::read_piece(const Operation& receive, uint64_t bytes) {
  std::byte* const dst = receive.buffer + receive.moved;
  if (receive.seen != nullptr) {
    copy_bytes(dst, receive.seen + receive.moved, bytes, CopyWay::kFromOthers);
    return true;
  }
  const int pid = readable_[static_cast<size_t>(receive.peer)].pid;
  const bool read = read_process(pid, dst, receive.address + receive.moved, bytes).ok();
  if (!read) ways_of(receive.peer).give_up_reading();
  return read;
}

// Reads a piece of the next message that is read where it lies. Where that fails, the message comes
// through the ring.
bool ShmEndpoint::pull_piece(int rank) {
  Peer& from = peer(rank);
  Operation* receive = from.pulls.first();
  if (receive == nullptr) return false;
  const uint64_t bytes = std::min(kPulledAtOnce, receive->limit - receive->moved);
  const bool last = receive->moved + bytes == receive->limit;
  const Status opened = open_ring(rank, 0);
  if (last && opened.ok() && !from.out.room(0)) return false;
  from.pulls.remove(*receive);
  if (!opened.ok()) {
    finish(*receive, opened);
    return true;
  }
  const Stopwatch work(crowded_);
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
  if (receive->seen == nullptr) count(*receive, Ways::Way::kRead);
  tell_taken(*receive);
  finish_receive(*receive, rank, receive->transfer->tag, receive->transfer->bytes);
  return true;
}

// The sender has its buffer back. Needs room.
void ShmEndpoint::tell_taken(const Operation& receive) {
  peer(receive.peer).out.put(FrameKind::kTaken, receive.id(), receive.limit, receive.partner);
  notifier_.one(receive.peer);
}

bool ShmEndpoint::push_waiting(int rank) {
  Peer& to = peer(rank);
  Operation& send = *to.waiting.first();
  Status opened = map_rings(rank);
  const bool eager = opened.ok() && need_not_ask(to, send.buffer, send.bytes);
  const uint64_t payload = eager ? send.bytes : 0;
  if (opened.ok()) opened = open_ring(rank, payload);
  if (opened.ok() && !to.out.room(payload)) return false;
  to.waiting.remove(send);
  if (!opened.ok()) {
    finish(send, opened);
  } else if (eager) {
    to.out.put(FrameKind::kEager, send.tag, send.buffer, send.bytes);
    to.out.count_eager(send.bytes + kCacheLine);
    finish(send, {});
  } else {
    to.out.put(FrameKind::kRequest, send.tag, send.bytes, send.id(), send.buffer);
    send.state = State::kRequested;
    ++to.asked;
  }
  return true;
}

// One piece of the next message under way.
bool ShmEndpoint::push_piece(int rank) {
  Peer& to = peer(rank);
  Operation& send = *to.streams.first();
  const uint64_t bytes = std::min(to.out.piece_bytes(), send.limit - send.moved);
  const Status opened = open_ring(rank, bytes);
  if (opened.ok() && !to.out.room(bytes)) return false;
  to.streams.remove(send);
  if (!opened.ok()) {
    finish(send, opened);
    return true;
  }
  to.out.put(FrameKind::kData, send.partner, send.buffer + send.moved, bytes);
  send.moved += bytes;
  if (send.moved == send.limit) {
    finish_send(send);
  } else {
    to.streams.push(send);
  }
  return true;
}

}  // namespace tutti::shm
