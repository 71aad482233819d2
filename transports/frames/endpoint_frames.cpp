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

void FrameEndpoint::take_frame(const PortRequest& request, uint64_t bytes) {
  const std::optional<FrameHead> head = frames_.head_of(request, bytes);
  if (!head) return;
  const int rank = static_cast<int>(head->rank);
  if (!peer(rank).failure.ok()) return;
  if (departures_.hear_from(rank)) make_busy(rank);
  const std::span<const std::byte> payload(request.memory.get() + sizeof *head,
                                           bytes - sizeof *head);
  const bool sound = frames_.take(
      rank, *head, payload, [&](const FrameHead& next, std::span<const std::byte> its_payload) {
        return handle(rank, next, its_payload);
      });
  if (sound) return;
  give_up(rank, Status::format(Code::kInternal,
                               "a frame that makes no sense came (kind {}, {} bytes, number {})",
                               static_cast<uint32_t>(head->kind), head->bytes, head->sequence));
}

// False if the frame makes no sense.
bool FrameEndpoint::handle(int rank, const FrameHead& head, std::span<const std::byte> payload) {
  switch (head.kind) {
    case FrameKind::kEager:
      if (head.bytes != payload.size()) return false;
      handle_eager(rank, head.tag, payload);
      return true;
    case FrameKind::kRequest:
      if (stage_ != Stage::kEnding) request_came(request_in(head));
      return true;
    case FrameKind::kCredit: return true;
    case FrameKind::kHello: frames_.owe_hellos(rank, rank < rank_ ? 1 : 0); return true;
    case FrameKind::kLeave:
      if (head.bytes != payload.size() || payload.size() > kMostLastWords) return false;
      departures_.note_last_words(rank, payload);
      note_left(rank);
      return true;
    case FrameKind::kGoodbye: peer(rank).gone = true; return true;
    case FrameKind::kRailLost:
      if (!frames_.keeps() || head.id >= port().rails()) return false;
      frames_.hear_of_loss(rank, static_cast<uint32_t>(head.id));
      return true;
    case FrameKind::kGrant:
    case FrameKind::kAgain:
    case FrameKind::kTaken: return handle_answer(rank, head);
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

// What the receiver says of a long message; nothing if it was cancelled.
bool FrameEndpoint::handle_answer(int rank, const FrameHead& head) {
  if (head.kind != FrameKind::kGrant && !frames_.keeps()) return false;
  PendingTransfer* const send = pool_.find(head.id, rank);
  if (send == nullptr || send->is(Phase::kEnding)) return true;
  if (head.kind == FrameKind::kAgain) return pieces_.send_again(*send, head);
  if (head.kind == FrameKind::kTaken) return pieces_.note_taken(*send);
  const bool first = send->state == State::kRequested;
  if (!PieceProtocol::take_grant(*send, head)) return false;
  if (send->limit == 0) {
    finish(*send, {});
  } else if (send->state != State::kStreaming && send->has_more()) {
    stream(*send);
  } else if (first) {
    note_sent(*send);
  }
  return true;
}

void FrameEndpoint::count_matched(int rank, uint64_t bytes) {
  EagerCredit& credit = frames_.credit(rank);
  credit.count_matched(cost(bytes));
  if (credit.is_owed()) make_busy(rank);
}

// ---- out ----

bool FrameEndpoint::owes(int rank) const {
  return peer(rank).failure.ok() && (frames_.owes(rank) || departures_.owes_word(rank));
}

// Hellos and credits go first, the farewell last.
bool FrameEndpoint::push(int rank) {
  const Peer& to = peer(rank);
  bool moved = false;
  for (bool more = true; more && to.failure.ok() && closed_.ok();) {
    more = frames_.send_owed(rank) || push_turn(rank) || push_leave(rank);
    moved |= more;
  }
  if (moved) departures_.deal_with(rank);
  return moved;
}

bool FrameEndpoint::may_be_eager(const PendingTransfer& send) {
  return send.bytes <= kEagerFramesBytes && frames_.credit(send.peer).may_send();
}

Put FrameEndpoint::put_first(PendingTransfer& send, bool eager) {
  FrameHead head{};
  head.kind = eager ? FrameKind::kEager : FrameKind::kRequest;
  head.tag = send.tag;
  head.bytes = send.bytes;
  head.id = send.id();
  if (!frames_.send(send.peer, head, eager ? send.buffer : nullptr, eager ? &send : nullptr)) {
    return Put::kNotNow;
  }
  if (eager) frames_.credit(send.peer).count_sent(cost(send.bytes));
  return Put::kYes;
}

}  // namespace tutti::frames
