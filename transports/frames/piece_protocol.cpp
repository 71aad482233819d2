// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/frames/piece_protocol.hpp"

#include <algorithm>

namespace tutti::frames {
namespace {

constexpr uint32_t kPiecesOut = 16;  // limit for one peer; others have their turn then

// The next piece of a message, for whose receive `index` stands.
void name_piece(PortRequest& piece, uint32_t index, const PendingTransfer& operation,
                uint32_t rails) {
  const uint64_t number = operation.begun / kPieceBytes;
  piece.tag = piece_tag(index, number);
  piece.rail = rail_of(operation.rail, number, rails);
}

bool receives(const PortRequest& piece) { return piece.kind == PortRequest::Kind::kPieceIn; }

}  // namespace

// ---- a receive ---------------------------------------------------------------------------------

void PieceProtocol::begin(PendingTransfer& receive, int source) {
  uint32_t& next = at(source).next_rail;
  receive.rail = next;
  next += static_cast<uint32_t>((receive.limit + kPieceBytes - 1) / kPieceBytes);
}

Put PieceProtocol::put_grant(PendingTransfer& receive) {
  const int rank = receive.peer;
  const uint64_t ahead = kPiecesAhead * kPieceBytes * port().rails();
  while (receive.begun < receive.limit && receive.begun - receive.moved < ahead && post(receive)) {
  }
  if (frames_.has_forgotten(rank)) return Put::kNotNow;  // the receive is gone, too
  const bool first = receive.granted == 0;
  if (receive.begun == receive.granted && !(first && receive.limit == 0)) {
    return receive.begun == receive.moved ? Put::kNotNow : Put::kYes;
  }
  FrameHead head{};
  head.kind = FrameKind::kGrant;
  head.id = receive.partner;
  head.tag = grant_tag(receive.index, receive.rail);
  head.bytes = receive.limit;
  head.upto = receive.begun;
  if (!frames_.send(rank, head)) return Put::kNotNow;
  receive.granted = receive.begun;
  return Put::kYes;
}

// Posts the next piece. False: it cannot, for now or for ever.
bool PieceProtocol::post(PendingTransfer& receive) {
  if (!requests_.may_receive()) return false;
  const int rank = receive.peer;
  PortRequest& piece = requests_.take(PortRequest::Kind::kPieceIn, rank, &receive);
  piece.piece = receive.drains ? requests_.sink() : receive.buffer + receive.begun;
  piece.bytes = std::min(kPieceBytes, receive.limit - receive.begun);
  name_piece(piece, receive.index, receive, port().rails());
  const uint64_t bytes = piece.bytes;
  const PostOutcome posted = is_lost(piece) ? PostOutcome::kFailed : port().post(piece);
  if (posted == PostOutcome::kFailed && replace(piece)) {
    if (frames_.has_forgotten(rank)) return false;
  } else if (posted != PostOutcome::kYes) {
    requests_.give_back(piece);
    if (posted == PostOutcome::kFailed) {
      owner_.give_up(rank, port().error().with_context("posting a receive"));
    }
    return false;
  }
  receive.begun += bytes;
  return true;
}

// Posts a piece over a rail that is left, and asks for it.
void PieceProtocol::expect_again(PortRequest& piece) {
  const int rank = piece.peer;
  for (;;) {
    piece.rail = rails_.left(rank, piece.rail);
    const PostOutcome posted = port().post(piece);
    if (posted == PostOutcome::kYes) break;
    if (posted == PostOutcome::kFailed && frames_.replace_rail(rank, piece.rail)) continue;
    end(piece);
    return owner_.lose(rank, "receiving from it");
  }
  frames_.add_notice(rank, FrameKind::kAgain, piece.operation->partner, piece.tag, piece.rail);
}

// ---- a send ------------------------------------------------------------------------------------

bool PieceProtocol::take_grant(PendingTransfer& send, const FrameHead& head) {
  const bool under_way = send.limit > 0 && (send.is(PendingTransfer::Phase::kSending) ||
                                            send.state == State::kStreaming);
  const bool makes_sense =
      send.state == State::kRequested || (under_way && head.bytes == send.limit);
  if (!makes_sense || head.bytes > send.bytes) return false;
  if (head.upto > head.bytes || head.upto < send.granted) return false;
  send.limit = head.bytes;
  send.partner = index_of(head.tag);
  send.rail = first_rail_of(head.tag);
  send.granted = head.upto;
  return true;
}

Put PieceProtocol::put_piece(PendingTransfer& send) {
  const int rank = send.peer;
  if (at(rank).out >= kPiecesOut) return Put::kNotNow;
  PortRequest& piece = requests_.take(PortRequest::Kind::kPieceOut, rank, &send);
  piece.piece = send.buffer + send.begun;
  piece.bytes = std::min(kPieceBytes, send.granted - send.begun);
  name_piece(piece, static_cast<uint32_t>(send.partner), send, port().rails());
  if (is_lost(piece)) {  // the receiver says which way it is to go
    send.begun += piece.bytes;
    requests_.give_back(piece);
    return Put::kYes;
  }
  const uint64_t bytes = piece.bytes;
  if (post_out(piece) != PostOutcome::kYes) return Put::kNotNow;
  send.begun += bytes;
  return Put::kYes;
}

bool PieceProtocol::send_again(PendingTransfer& send, const FrameHead& head) {
  if (head.upto >= port().rails()) return false;
  const auto rail = static_cast<uint32_t>(head.upto);
  const int rank = send.peer;
  if (rails_.lost(rank, rail)) return true;  // the peer hears of it, and asks again
  // Several pieces have this number; the one nearest to those being sent is meant.
  const uint64_t now = send.begun / kPieceBytes;
  const auto ahead = static_cast<int16_t>(piece_of(head.tag) - now);
  const uint64_t offset = (now + static_cast<uint64_t>(int64_t{ahead})) * kPieceBytes;
  if (operation_of(head.tag) != static_cast<uint32_t>(send.partner) || offset >= send.limit) {
    return false;
  }
  PortRequest& piece = requests_.take(PortRequest::Kind::kPieceOut, rank, &send);
  piece.piece = send.buffer + offset;
  piece.bytes = std::min(kPieceBytes, send.limit - offset);
  piece.tag = head.tag;
  piece.rail = rail;
  if (post_out(piece) == PostOutcome::kNotNow && !frames_.replace_rail(rank, rail)) {
    owner_.lose(rank, "sending to it");
  }
  return true;
}

// Gives a piece to the network. If that fails, its rail or its peer is lost.
PostOutcome PieceProtocol::post_out(PortRequest& piece) {
  const int rank = piece.peer;
  const PostOutcome posted = port().post(piece);
  if (posted == PostOutcome::kYes) {
    ++at(rank).out;
    return posted;
  }
  const uint32_t rail = piece.rail;
  requests_.give_back(piece);
  if (posted == PostOutcome::kFailed && !frames_.replace_rail(rank, rail)) {
    owner_.lose(rank, "sending to it");
  }
  return posted;
}

bool PieceProtocol::note_taken(PendingTransfer& send) {
  if (send.limit == 0) return false;  // nothing of it was granted
  send.taken = true;
  if (has_gone(send)) owner_.end(send, End::kWent);
  return true;
}

// Whether the peer has all of a send, as far as is known, and nothing reads its buffer any more.
bool PieceProtocol::has_gone(const PendingTransfer& send) const {
  return frames_.keeps() ? send.taken && !requests_.in_flight(send) : send.moved == send.limit;
}

// ---- a piece that is no longer under way -------------------------------------------------------

void PieceProtocol::came(PortRequest& piece, uint64_t bytes) {
  const uint64_t expected = piece.bytes;
  const int rank = piece.peer;
  if (bytes == expected) piece.operation->moved += bytes;
  end(piece);
  if (bytes == expected) return;
  owner_.give_up(rank,
                 Status::format(Code::kInternal, "a piece of {} bytes came where {} were expected",
                                bytes, expected));
}

void PieceProtocol::went(PortRequest& piece) {
  piece.operation->moved += piece.bytes;
  end(piece);
}

void PieceProtocol::failed(PortRequest& piece, bool cancelled) {
  const int rank = piece.peer;
  const bool comes = receives(piece);
  const bool ends = piece.operation->is(PendingTransfer::Phase::kEnding);
  // Providers also call cancelled what they flush when a connection breaks.
  const bool withdrawn = cancelled && comes && (ends || piece.operation->drains);
  if (!withdrawn && replace(piece)) return;
  if (withdrawn && !ends) {
    piece.piece = requests_.sink();
    if (!requests_.repost(piece) && !replace(piece)) refused(piece);
    return;
  }
  end(piece);
  if (!withdrawn) owner_.lose(rank, comes ? "receiving from it" : "sending to it");
}

void PieceProtocol::refused(PortRequest& piece) {
  const int rank = piece.peer;
  const Status why = port().error().with_context("posting a receive");
  end(piece);
  owner_.give_up(rank, why);
}

// Whether other rails stand in for that of a piece which failed. Then it is expected again, or its
// receiver asks for it.
bool PieceProtocol::replace(PortRequest& piece) {
  if (!frames_.replace_rail(piece.peer, piece.rail)) return false;
  if (receives(piece) && !piece.operation->is(PendingTransfer::Phase::kEnding)) {
    expect_again(piece);
  } else {
    end(piece);
  }
  return true;
}

// A piece is no longer under way, whether it came over or not.
void PieceProtocol::end(PortRequest& piece) {
  PendingTransfer& operation = *piece.operation;
  const bool comes = receives(piece);
  if (!comes) --at(piece.peer).out;
  requests_.give_back(piece);
  const bool ends = operation.is(PendingTransfer::Phase::kEnding);
  if (ends && requests_.under_way(operation)) return;
  if (comes ? operation.moved == operation.limit : has_gone(operation)) {
    if (comes && frames_.keeps()) {
      frames_.add_notice(operation.peer, FrameKind::kTaken, operation.partner);
    }
    return owner_.end(operation, comes ? End::kCame : End::kWent);
  }
  if (ends) return owner_.end(operation, End::kAbandoned);
  if (comes && operation.state == State::kReceiving && operation.begun < operation.limit) {
    owner_.wants_grant(operation);
  }
}

}  // namespace tutti::frames
