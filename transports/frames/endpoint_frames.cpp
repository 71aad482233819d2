// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Frames that come in, which are checked before anything is done with them, and frames that go out.
#include <algorithm>
#include <cstring>

#include "transports/frames/endpoint.hpp"

namespace tutti::frames {
namespace {

// A frame's share in what a receiver keeps aside.
constexpr uint64_t cost(uint64_t bytes) { return bytes + sizeof(FrameHead); }

constexpr uint64_t kCreditStep = kUnmatchedBytes / 4;
// A peer that does not read holds up no more buffers than these.
constexpr uint32_t kFramesOut = 64;
constexpr uint32_t kMostEarly = 4096;

}  // namespace

// ---- in
// ------------------------------------------------------------------------------------------

void FrameEndpoint::take_frame(const Request& request, uint64_t bytes) {
  FrameHead head{};
  if (bytes < sizeof head || bytes > kFrameBytes) return;  // of no peer of ours
  std::memcpy(&head, request.memory.get(), sizeof head);
  if (head.cookie != cookie_ || head.rank >= peers_.size()) return;
  const int rank = static_cast<int>(head.rank);
  if (rank == rank_ || !peer(rank).failure.ok()) return;
  Peer& from = peer(rank);
  const std::byte* payload = request.memory.get() + sizeof head;
  const uint64_t length = bytes - sizeof head;
  bool sound = true;
  if (head.sequence == from.expected) {
    ++from.expected;
    sound = handle(rank, head, payload, length);
    for (auto next = from.early.find(from.expected); sound && next != from.early.end();
         next = from.early.find(from.expected)) {
      const Early early = std::move(next->second);
      from.early.erase(next);
      ++from.expected;
      sound = handle(rank, early.head, early.payload.data(), early.payload.size());
    }
  } else {
    sound = head.sequence - from.expected <= kMostEarly;
    if (sound) from.early[head.sequence] = {head, {payload, payload + length}};
  }
  if (sound) return;
  fail(rank, Status::format(Code::kInternal,
                            "a frame that makes no sense came (kind {}, {} bytes, number {})",
                            static_cast<uint32_t>(head.kind), head.bytes, head.sequence));
}

// False if the frame makes no sense.
bool FrameEndpoint::handle(int rank, const FrameHead& head, const std::byte* payload,
                           uint64_t bytes) {
  Peer& from = peer(rank);
  if (head.matched < from.eager_taken || head.matched > from.eager_sent) return false;
  from.eager_taken = head.matched;
  switch (head.kind) {
    case FrameKind::kEager: return handle_eager(rank, head, payload, bytes);
    case FrameKind::kRequest: handle_request(rank, head); return true;
    case FrameKind::kGrant: return handle_grant(rank, head);
    case FrameKind::kCredit: return true;
    case FrameKind::kHello:
      from.hellos_owed += rank < rank_;
      make_busy(rank);
      return true;
    case FrameKind::kLeave:
      if (head.bytes != bytes || bytes > kMaxNoteBytes) return false;
      has_just_left(rank, {payload, bytes});
      return true;
    case FrameKind::kGoodbye: from.gone = true; return true;
  }
  return false;
}

bool FrameEndpoint::handle_eager(int rank, const FrameHead& head, const std::byte* payload,
                                 uint64_t bytes) {
  if (head.bytes != bytes) return false;
  if (leaving_) return true;
  if (Operation* receive = matching_.take_posted(rank, head.tag)) {
    if (const uint64_t wanted = std::min(bytes, receive->bytes); wanted > 0) {
      std::memcpy(receive->buffer, payload, wanted);
    }
    count_matched(rank, bytes);
    finish_receive(*receive, rank, head.tag, bytes);
    return true;
  }
  auto message = std::make_unique<Message>();
  message->source = rank;
  message->tag = head.tag;
  message->bytes = bytes;
  message->eager = true;
  message->data = std::make_unique_for_overwrite<std::byte[]>(bytes);
  if (bytes > 0) std::memcpy(message->data.get(), payload, bytes);
  matching_.keep(std::move(message));
  return true;
}

void FrameEndpoint::handle_request(int rank, const FrameHead& head) {
  if (leaving_) return;
  if (Operation* receive = matching_.take_posted(rank, head.tag)) {
    return grant(*receive, rank, head.id, head.bytes, head.tag);
  }
  auto message = std::make_unique<Message>();
  message->source = rank;
  message->tag = head.tag;
  message->bytes = head.bytes;
  message->sender = head.id;
  matching_.keep(std::move(message));
}

bool FrameEndpoint::handle_grant(int rank, const FrameHead& head) {
  Operation* send = find(head.id, rank);
  if (send == nullptr || send->state == State::kEnding) return true;  // it was cancelled
  const bool first = send->state == State::kRequested;
  const bool under_way =
      send->limit > 0 && (send->state == State::kSending || send->state == State::kStreaming);
  if (!first && !(under_way && head.bytes == send->limit)) return false;
  if (head.bytes > send->bytes || head.upto > head.bytes || head.upto < send->granted) return false;
  if (head.bytes == 0) {
    finish(*send, {});
    return true;
  }
  send->limit = head.bytes;
  send->partner = index_of(head.tag);
  send->rail = first_rail_of(head.tag);
  send->granted = head.upto;
  if (send->state != State::kStreaming && send->begun < send->granted) {
    send->state = State::kStreaming;
    peer(rank).streams.push(*send);
    make_busy(rank);
  } else if (first) {
    send->state = State::kSending;
  }
  return true;
}

void FrameEndpoint::count_matched(int rank, uint64_t bytes) {
  Peer& from = peer(rank);
  from.matched += cost(bytes);
  if (from.matched - from.matched_told >= kCreditStep) make_busy(rank);
}

// ---- out
// -----------------------------------------------------------------------------------------

void FrameEndpoint::make_busy(int rank) {
  if (peer(rank).busy) return;
  peer(rank).busy = true;
  busy_.push_back(rank);
}

bool FrameEndpoint::push_busy() {
  bool moved = false;
  for (size_t i = 0; i < busy_.size();) {
    const int rank = busy_[i];
    moved |= push(rank);
    if (i >= busy_.size()) break;  // the endpoint was closed
    Peer& to = peer(rank);
    const bool owes = to.failure.ok() && (to.hellos_owed > 0 || to.owes_leave ||
                                          to.matched - to.matched_told >= kCreditStep);
    if (to.waiting.empty() && to.grants.empty() && to.streams.empty() && !owes) {
      to.busy = false;
      busy_[i] = busy_.back();
      busy_.pop_back();
    } else {
      ++i;
    }
  }
  return moved;
}

// Sends what the network has room for: grants first, for a peer's whole message waits for each;
// then, in turns, what begins a message and a piece of one under way.
bool FrameEndpoint::push(int rank) {
  Peer& to = peer(rank);
  bool moved = false;
  for (bool more = true; more && to.failure.ok() && closed_.ok();) {
    more = push_hello(rank) || push_grant(rank) || push_credit(rank);
    if (!more && !to.waiting.empty()) more = push_waiting(rank);
    if (!to.streams.empty()) more |= push_piece(rank);
    if (!more) more = push_leave(rank);
    moved |= more;
  }
  return moved;
}

// Whether it went out. What is sent first is numbered first.
bool FrameEndpoint::push_frame(int rank, FrameHead head, const std::byte* payload,
                               Operation* operation) {
  Peer& to = peer(rank);
  if (to.frames_out >= kFramesOut) return false;
  Request& frame = take_request(Request::Kind::kFrameOut, rank, operation);
  const uint64_t bytes = payload != nullptr ? head.bytes : 0;
  // A hello goes over each rail; then a rail's turn lasts as long as the longest frame.
  const bool hello = head.kind == FrameKind::kHello;
  const uint64_t turn = hello ? to.hellos_sent : to.sent_bytes / kFrameBytes;
  frame.rail = static_cast<uint32_t>(turn % port_->rails());
  head.cookie = cookie_;
  head.rank = static_cast<uint32_t>(rank_);
  head.sequence = to.sent;
  head.matched = to.matched;
  std::memcpy(frame.memory.get(), &head, sizeof head);
  if (bytes > 0) std::memcpy(frame.memory.get() + sizeof head, payload, bytes);
  frame.bytes = sizeof head + bytes;
  if (const Posted posted = port_->post(frame); posted != Posted::kYes) {
    give_back(frame);
    if (posted == Posted::kFailed) lose(rank, "sending to it");
    return false;
  }
  ++to.sent;
  to.sent_bytes += frame.bytes;
  ++to.frames_out;
  to.matched_told = to.matched;
  return true;
}

bool FrameEndpoint::push_credit(int rank) {
  Peer& to = peer(rank);
  if (to.matched - to.matched_told < kCreditStep) return false;
  FrameHead head{};
  head.kind = FrameKind::kCredit;
  return push_frame(rank, head, nullptr, nullptr);
}

bool FrameEndpoint::push_hello(int rank) {
  Peer& to = peer(rank);
  if (to.hellos_owed == 0) return false;
  FrameHead head{};
  head.kind = FrameKind::kHello;
  if (!push_frame(rank, head, nullptr, nullptr)) return false;
  --to.hellos_owed;
  ++to.hellos_sent;
  return true;
}

// After everything else.
bool FrameEndpoint::push_leave(int rank) {
  Peer& to = peer(rank);
  if (!to.owes_leave || !to.waiting.empty() || !to.streams.empty()) return false;
  FrameHead head{};
  head.kind = FrameKind::kLeave;
  head.bytes = last_words_.size();
  to.owes_leave = !push_frame(rank, head, last_words_.data(), nullptr);
  return !to.owes_leave;
}

bool FrameEndpoint::push_waiting(int rank) {
  Peer& to = peer(rank);
  Operation& send = *to.waiting.first();
  const bool eager = send.bytes <= kEagerBytes && to.eager_sent - to.eager_taken <= kUnmatchedBytes;
  FrameHead head{};
  head.kind = eager ? FrameKind::kEager : FrameKind::kRequest;
  head.tag = send.tag;
  head.bytes = send.bytes;
  head.id = send.id();
  if (!push_frame(rank, head, eager ? send.buffer : nullptr, eager ? &send : nullptr)) {
    return false;
  }
  to.waiting.remove(send);
  send.state = eager ? State::kSending : State::kRequested;
  if (eager) to.eager_sent += cost(send.bytes);
  return true;
}

}  // namespace tutti::frames
