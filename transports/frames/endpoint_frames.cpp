// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Frames that come in, which are checked before anything is done with them, and frames that go out.
#include <algorithm>
#include <cstring>

#include "core/tuned.hpp"
#include "transports/frames/endpoint.hpp"
#include "transports/match/engine_steps.hpp"

namespace tutti::frames {
namespace {

// A frame's share in what a receiver keeps aside.
constexpr uint64_t cost(uint64_t bytes) { return bytes + Types::kMessageCost; }

// A peer that does not read holds up no more buffers than these.
constexpr uint32_t kFramesOut = tuned::kFramesOut;

void copy_payload(std::byte* dst, const std::byte* payload, uint64_t bytes) {
  if (bytes > 0) std::memcpy(dst, payload, bytes);
}

Message request_in(const FrameHead& head) {
  Message message;
  message.source = static_cast<int>(head.rank);
  message.tag = head.tag;
  message.bytes = head.bytes;
  message.sender = head.id;
  return message;
}

}  // namespace

// ---- in ----

void FrameEndpoint::take_frame(const Request& request, uint64_t bytes) {
  FrameHead head{};
  if (bytes < sizeof head || bytes > kFrameBytes) return;  // of no peer of ours
  std::memcpy(&head, request.memory.get(), sizeof head);
  if (head.cookie != cookie_ || head.rank >= peers_.size()) return;
  const int rank = static_cast<int>(head.rank);
  if (rank == rank_ || !peer(rank).failure.ok()) return;
  note_dealt(rank);
  const std::span<const std::byte> payload(request.memory.get() + sizeof head, bytes - sizeof head);
  const bool sound = peer(rank).in_order.take(
      head, payload, [&](const FrameHead& next, std::span<const std::byte> its_payload) {
        return handle(rank, next, its_payload);
      });
  if (keeps_frames_ && peer(rank).owes_seen()) make_busy(rank);
  if (sound) return;
  give_up(rank, Status::format(Code::kInternal,
                               "a frame that makes no sense came (kind {}, {} bytes, number {})",
                               static_cast<uint32_t>(head.kind), head.bytes, head.sequence));
}

// False if the frame makes no sense.
bool FrameEndpoint::handle(int rank, const FrameHead& head, std::span<const std::byte> payload) {
  Peer& from = peer(rank);
  if (head.matched < from.eager_taken || head.matched > from.eager_sent) return false;
  if (keeps_frames_ && !note_seen(rank, head.seen)) return false;
  from.eager_taken = head.matched;
  switch (head.kind) {
    case FrameKind::kEager:
      if (head.bytes != payload.size()) return false;
      handle_eager(rank, head.tag, payload);
      return true;
    case FrameKind::kRequest:
      if (!ending_) request_came(request_in(head));
      return true;
    case FrameKind::kGrant: return handle_grant(rank, head);
    case FrameKind::kCredit: return true;
    case FrameKind::kHello:
      from.hellos_owed += rank < rank_;
      make_busy(rank);
      return true;
    case FrameKind::kLeave:
      if (head.bytes != payload.size() || payload.size() > kMaxLastWords) return false;
      from.last_words.assign(payload.begin(), payload.end());
      note_left(rank);
      return true;
    case FrameKind::kGoodbye: from.gone = true; return true;
    case FrameKind::kRailLost:
      if (!keeps_frames_ || head.id >= port().rails()) return false;
      if (may_mend(rank)) hear_of_loss(rank, static_cast<uint32_t>(head.id));
      return true;
    case FrameKind::kAgain: return keeps_frames_ && send_again(rank, head);
    case FrameKind::kTaken: return keeps_frames_ && handle_taken(rank, head);
  }
  return false;
}

void FrameEndpoint::handle_eager(int rank, Tag tag, std::span<const std::byte> payload) {
  if (ending_) return;
  eager_came(rank, tag, payload.size(), [&](std::byte* dst, uint64_t wanted, const Message*) {
    copy_payload(dst, payload.data(), wanted);
  });
}

void FrameEndpoint::take_kept(std::byte* dst, const Message& message, uint64_t wanted) {
  copy_payload(dst, message.data.get(), wanted);
}

bool FrameEndpoint::handle_grant(int rank, const FrameHead& head) {
  Operation* const send = pool_.find(head.id, rank);
  if (send == nullptr || send->is(Phase::kEnding)) return true;  // it was cancelled
  const bool first = send->state == State::kRequested;
  const bool under_way =
      send->limit > 0 && (send->is(Phase::kSending) || send->state == State::kStreaming);
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
  if (send->state != State::kStreaming && send->has_more()) {
    stream(*send);
  } else if (first) {
    note_sent(*send);
  }
  return true;
}

void FrameEndpoint::count_matched(int rank, uint64_t bytes) {
  Peer& from = peer(rank);
  from.matched += cost(bytes);
  if (from.owes_credit()) make_busy(rank);
}

// ---- out ----

bool FrameEndpoint::owes(int rank) const {
  const Peer& to = peer(rank);
  return to.failure.ok() && (to.hellos_owed > 0 || to.owes_leave || to.owes_credit() ||
                             !to.notices.empty() || (keeps_frames_ && to.owes_seen()));
}

// Hellos and credits go first, the farewell last.
bool FrameEndpoint::push(int rank) {
  const Peer& to = peer(rank);
  bool moved = false;
  for (bool more = true; more && to.failure.ok() && closed_.ok();) {
    more = push_notice(rank) || push_turn(rank) || push_leave(rank);
    moved |= more;
  }
  return moved;
}

bool FrameEndpoint::push_notice(int rank) {
  Peer& to = peer(rank);
  FrameHead head{};
  if (to.hellos_owed > 0) {
    head.kind = FrameKind::kHello;
    if (!push_frame(rank, head, nullptr, nullptr)) return false;
    --to.hellos_owed;
    ++to.hellos_sent;
    return true;
  }
  if (!to.notices.empty()) {
    const FrameHead notice = to.notices.front();
    to.notices.pop_front();  // to send it may add another
    const bool sent = push_frame(rank, notice, nullptr, nullptr);
    if (!sent) to.notices.push_front(notice);
    return sent;
  }
  head.kind = FrameKind::kCredit;
  const bool owes = to.owes_credit() || (keeps_frames_ && to.owes_seen());
  return owes && push_frame(rank, head, nullptr, nullptr);
}

bool FrameEndpoint::may_be_eager(const Operation& send) {
  const Peer& to = peer(send.peer);
  return send.bytes <= kEagerBytes && to.eager_sent - to.eager_taken <= kUnmatchedBytes;
}

Put FrameEndpoint::put_first(Operation& send, bool eager) {
  FrameHead head{};
  head.kind = eager ? FrameKind::kEager : FrameKind::kRequest;
  head.tag = send.tag;
  head.bytes = send.bytes;
  head.id = send.id();
  if (!push_frame(send.peer, head, eager ? send.buffer : nullptr, eager ? &send : nullptr)) {
    return Put::kNotNow;
  }
  if (eager) peer(send.peer).eager_sent += cost(send.bytes);
  return Put::kYes;
}

// Returns whether it went out. Frames are numbered in the order in which they are sent.
bool FrameEndpoint::push_frame(int rank, FrameHead head, const std::byte* payload,
                               Operation* operation) {
  Peer& to = peer(rank);
  // A frame that acknowledges others must not wait for an acknowledgement.
  const size_t out = keeps_frames_ ? to.unseen.size() : to.frames_out;
  if (out >= kFramesOut && !(keeps_frames_ && head.kind == FrameKind::kCredit)) return false;
  Request& frame = requests_.take(Request::Kind::kFrameOut, rank, operation);
  const uint64_t bytes = payload != nullptr ? head.bytes : 0;
  // A hello goes over each rail; then a rail's turn lasts as long as the longest frame.
  const bool hello = head.kind == FrameKind::kHello;
  const uint64_t turn = hello ? to.hellos_sent : to.sent_bytes / kFrameBytes;
  frame.rail = static_cast<uint32_t>(turn % port().rails());
  if (!hello && to.lost_rails != 0) frame.rail = rail_left(rank, frame.rail);
  head.cookie = cookie_;
  head.rank = static_cast<uint32_t>(rank_);
  head.sequence = to.sent;
  head.matched = to.matched;
  head.seen = to.in_order.expected();
  std::memcpy(frame.memory.get(), &head, sizeof head);
  copy_payload(frame.memory.get() + sizeof head, payload, bytes);
  frame.bytes = sizeof head + bytes;
  if (const Posted posted = post_frame(frame); posted != Posted::kYes) {
    requests_.give_back(frame);
    if (posted == Posted::kFailed) lose(rank, "sending to it");
    return false;
  }
  to.dealt = true;
  ++to.sent;
  to.sent_bytes += frame.bytes;
  ++to.frames_out;
  if (keeps_frames_) to.unseen.push_back(&frame);
  to.seen_told = head.seen;
  to.matched_told = to.matched;
  return true;
}

}  // namespace tutti::frames
