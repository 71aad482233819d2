// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Frames that come in, which are checked before anything is done with them, and frames that go out.
#include <algorithm>
#include <cstring>

#include "transports/frames/endpoint.hpp"
#include "transports/match/engine_steps.hpp"

namespace tutti::frames {
namespace {

// A frame's share in what a receiver keeps aside.
constexpr uint64_t cost(uint64_t bytes) { return bytes + Types::kMessageCost; }

void copy_payload(std::byte* dst, const std::byte* payload, uint64_t bytes) {
  if (bytes > 0) std::memcpy(dst, payload, bytes);
}

UnexpectedMessage request_in(const FrameHead& head) {
  UnexpectedMessage message;
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
  if (departures_.hear_from(rank)) make_busy(rank);
  const std::span<const std::byte> payload(request.memory.get() + sizeof head, bytes - sizeof head);
  const bool sound = frames_.take(
      rank, head, payload, [&](const FrameHead& next, std::span<const std::byte> its_payload) {
        return handle(rank, next, its_payload);
      });
  if (frames_.owes_seen(rank)) make_busy(rank);
  if (sound) return;
  give_up(rank, Status::format(Code::kInternal,
                               "a frame that makes no sense came (kind {}, {} bytes, number {})",
                               static_cast<uint32_t>(head.kind), head.bytes, head.sequence));
}

// False if the frame makes no sense.
bool FrameEndpoint::handle(int rank, const FrameHead& head, std::span<const std::byte> payload) {
  if (!peer(rank).credit.note_taken(head.matched)) return false;
  switch (head.kind) {
    case FrameKind::kEager:
      if (head.bytes != payload.size()) return false;
      handle_eager(rank, head.tag, payload);
      return true;
    case FrameKind::kRequest:
      if (stage_ != Stage::kEnding) request_came(request_in(head));
      return true;
    case FrameKind::kGrant: return handle_grant(rank, head);
    case FrameKind::kCredit: return true;
    case FrameKind::kHello: frames_.owe_hellos(rank, rank < rank_ ? 1 : 0); return true;
    case FrameKind::kLeave:
      if (head.bytes != payload.size() || payload.size() > kMaxLastWords) return false;
      departures_.note_last_words(rank, payload);
      note_left(rank);
      return true;
    case FrameKind::kGoodbye: peer(rank).gone = true; return true;
    case FrameKind::kRailLost:
      if (!frames_.keeps() || head.id >= port().rails()) return false;
      if (may_mend(rank)) hear_of_loss(rank, static_cast<uint32_t>(head.id));
      return true;
    case FrameKind::kAgain: return frames_.keeps() && send_again(rank, head);
    case FrameKind::kTaken: return frames_.keeps() && handle_taken(rank, head);
  }
  return false;
}

void FrameEndpoint::handle_eager(int rank, Tag tag, std::span<const std::byte> payload) {
  if (stage_ == Stage::kEnding) return;
  eager_came(rank, tag, payload.size(),
             [&](std::byte* dst, uint64_t wanted, const UnexpectedMessage*) {
               copy_payload(dst, payload.data(), wanted);
             });
}

void FrameEndpoint::take_kept(std::byte* dst, const UnexpectedMessage& message, uint64_t wanted) {
  copy_payload(dst, message.data.get(), wanted);
}

bool FrameEndpoint::handle_grant(int rank, const FrameHead& head) {
  PendingTransfer* const send = pool_.find(head.id, rank);
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
  EagerCredit& credit = peer(rank).credit;
  credit.count_matched(cost(bytes));
  if (credit.is_owed()) make_busy(rank);
}

// ---- out ----

bool FrameEndpoint::owes(int rank) const {
  return peer(rank).failure.ok() &&
         (frames_.owes_hello(rank) || frames_.has_notice(rank) || frames_.owes_seen(rank) ||
          peer(rank).credit.is_owed() || departures_.owes_word(rank));
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
  if (frames_.owes_hello(rank)) {
    if (!push_empty(rank, FrameKind::kHello)) return false;
    frames_.hello_sent(rank);
    return true;
  }
  if (const auto notice = frames_.take_notice(rank)) {  // to send it may add another
    const bool sent = push_frame(rank, *notice, nullptr, nullptr);
    if (!sent) frames_.put_back(rank, *notice);
    return sent;
  }
  const bool owes = peer(rank).credit.is_owed() || frames_.owes_seen(rank);
  return owes && push_empty(rank, FrameKind::kCredit);
}

bool FrameEndpoint::may_be_eager(const PendingTransfer& send) {
  return send.bytes <= kEagerFrames && peer(send.peer).credit.may_send();
}

Put FrameEndpoint::put_first(PendingTransfer& send, bool eager) {
  FrameHead head{};
  head.kind = eager ? FrameKind::kEager : FrameKind::kRequest;
  head.tag = send.tag;
  head.bytes = send.bytes;
  head.id = send.id();
  if (!push_frame(send.peer, head, eager ? send.buffer : nullptr, eager ? &send : nullptr)) {
    return Put::kNotNow;
  }
  if (eager) peer(send.peer).credit.count_sent(cost(send.bytes));
  return Put::kYes;
}

// Returns whether it went out.
bool FrameEndpoint::push_frame(int rank, FrameHead head, const std::byte* payload,
                               PendingTransfer* operation) {
  EagerCredit& credit = peer(rank).credit;
  head.cookie = cookie_;
  head.rank = static_cast<uint32_t>(rank_);
  head.matched = credit.matched();
  const Posted posted = frames_.send(rank, head, payload, operation);
  if (posted == Posted::kFailed) lose(rank, "sending to it");
  if (posted != Posted::kYes) return false;
  departures_.deal_with(rank);
  credit.note_told();
  return true;
}

bool FrameEndpoint::push_empty(int rank, FrameKind kind) {
  FrameHead head{};
  head.kind = kind;
  return push_frame(rank, head, nullptr, nullptr);
}

}  // namespace tutti::frames
