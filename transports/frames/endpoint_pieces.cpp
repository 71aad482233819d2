// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Handles the network's completions, and the pieces of long messages.
#include <algorithm>
#include <utility>

#include "core/tuned.hpp"
#include "transports/frames/endpoint.hpp"
#include "transports/match/engine_steps.hpp"

namespace tutti::frames {
namespace {

constexpr size_t kBatch = 16;  // completions read at once
constexpr int kBatches = 16;   // per poll, so that what waits to go out has its turn

// The next piece of a message, for whose receive `index` stands.
void name_piece(Request& piece, uint32_t index, const PendingTransfer& operation, uint32_t rails) {
  const uint64_t number = operation.begun / kPieceBytes;
  piece.tag = piece_tag(index, number);
  piece.rail = rail_of(operation.rail, number, rails);
}

// The port has failed at `what`.
Status failure_of(const Port& port, std::string_view what) {
  return port.error().with_context(fmt::format("{} {}", what, port.where()));
}

}  // namespace

// ---- completions ----

bool FrameEndpoint::poll_until(const Transfer* wanted) {
  if (port().closed()) return false;
  while (Request* const request = requests_.repost_waiting()) refused(*request);
  bool moved = false;
  handle_breaks();
  Completion completions[kBatch];
  for (int batch = 0; batch < kBatches && !port().closed(); ++batch) {
    const ptrdiff_t count = port().poll(completions);
    if (count < 0) close(failure_of(port(), "reading the completions of"));
    if (count <= 0) break;
    moved = true;
    if (completions[0].end != Completion::End::kDone) {
      failed(*completions[0].request, completions[0].end == Completion::End::kCancelled);
      continue;
    }
    for (ptrdiff_t i = 0; i < count && !port().closed(); ++i) {
      completed(*completions[i].request, completions[i].bytes);
    }
    if (count < static_cast<ptrdiff_t>(kBatch) || (wanted != nullptr && wanted->done)) break;
  }
  if (!busy_.empty()) moved |= push_busy();
  ask_silent_peers();
  return moved;
}

void FrameEndpoint::completed(Request& request, uint64_t bytes) {
  switch (request.kind) {
    case Request::Kind::kFrameOut: {
      PendingTransfer* const send = std::exchange(request.operation, nullptr);
      frames_.went(request);
      if (send != nullptr) finish(*send, {});
      return;
    }
    case Request::Kind::kFrameIn:
      take_frame(request, bytes);
      if (!port().closed() && !requests_.repost(request)) refused(request);
      return;
    case Request::Kind::kPieceIn:
      if (bytes != request.bytes) {
        const Status reason =
            Status::format(Code::kInternal, "a piece of {} bytes came where {} were expected",
                           bytes, request.bytes);
        const int rank = request.peer;
        end_piece(request);
        return give_up(rank, reason);
      }
      request.operation->moved += bytes;
      return end_piece(request);
    case Request::Kind::kPieceOut:
      request.operation->moved += request.bytes;
      return end_piece(request);
    case Request::Kind::kConnection: return;
  }
}

void FrameEndpoint::failed(Request& request, bool cancelled) {
  const int rank = request.peer;
  if (!cancelled && mend(request)) return;
  switch (request.kind) {
    case Request::Kind::kFrameOut: return frames_.failed(request);
    case Request::Kind::kFrameIn:
      // The sender cannot be told: something too long comes from no rank of ours.
      if (!requests_.repost(request)) refused(request);
      return;
    case Request::Kind::kPieceIn:
      if (cancelled && !request.operation->is(Phase::kEnding)) {
        request.piece = requests_.sink();
        if (!requests_.repost(request) && !mend(request)) refused(request);
        return;
      }
      end_piece(request);
      if (cancelled) return;
      return lose(rank, "receiving from it");
    case Request::Kind::kPieceOut: end_piece(request); return lose(rank, "sending to it");
    case Request::Kind::kConnection: return connection_broke(rank, request.rail);
  }
}

// The port has failed at `what`, which concerns that peer only.
void FrameEndpoint::lose(int rank, std::string_view what) {
  Status reason = Status::format(Code::kPeerFailed, "{} over {}: {}", what, port().where(),
                                 port().error().message());
  const bool has_left = explains_loss(rank);
  if (has_left) {
    reason =
        reason.with_context("it has destroyed its communicator, has died, or cannot be reached");
  }
  give_up(rank, reason);
  if (has_left) note_left(rank);
}

// A receive could not be posted again: of a piece, its peer is lost; of frames, from anyone, all.
void FrameEndpoint::refused(Request& request) {
  if (request.kind != Request::Kind::kPieceIn) {
    return close(failure_of(port(), "posting a receive with"));
  }
  const int rank = request.peer;
  const Status reason = port().error().with_context("posting a receive");
  end_piece(request);
  give_up(rank, reason);
}

// ---- pieces ----

// Takes the rails of the receive's pieces, which both ends must know; all receives are granted.
bool FrameEndpoint::begin_own_route(PendingTransfer& receive, const UnexpectedMessage& message) {
  Peer& from = peer(message.source);
  receive.rail = from.next_rail;
  from.next_rail += static_cast<uint32_t>((receive.limit + kPieceBytes - 1) / kPieceBytes);
  return false;
}

// Posts what may be posted of a receive, and grants that. If there is nothing to tell, the receive
// comes back when a piece has come.
Put FrameEndpoint::put_grant(PendingTransfer& receive) {
  const int rank = receive.peer;
  const uint64_t ahead = kPiecesAhead * kPieceBytes * port().rails();
  while (receive.begun < receive.limit && receive.begun - receive.moved < ahead &&
         post_piece(receive)) {
  }
  if (!peer(rank).failure.ok()) return Put::kNotNow;  // and the receive is no more
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
  if (!push_frame(rank, head, nullptr, nullptr)) return Put::kNotNow;
  receive.granted = receive.begun;
  return Put::kYes;
}

bool FrameEndpoint::post_piece(PendingTransfer& receive) {
  if (!requests_.may_receive()) return false;
  Request& piece = requests_.take(Request::Kind::kPieceIn, receive.peer, &receive);
  const bool wanted = receive.transfer != &nobodys_;
  piece.piece = wanted ? receive.buffer + receive.begun : requests_.sink();
  piece.bytes = std::min(kPieceBytes, receive.limit - receive.begun);
  name_piece(piece, receive.index, receive, port().rails());
  const bool lost = rails_.mends() && rails_.lost(receive.peer, piece.rail);
  const Posted posted = lost ? Posted::kFailed : port().post(piece);
  if (posted == Posted::kFailed && mend(piece)) {
    if (!peer(receive.peer).failure.ok()) return false;
  } else if (posted != Posted::kYes) {
    requests_.give_back(piece);
    if (posted == Posted::kFailed) {
      give_up(receive.peer, port().error().with_context("posting a receive"));
    }
    return false;
  }
  receive.begun += piece.bytes;
  return true;
}

Put FrameEndpoint::put_piece(PendingTransfer& send) {
  Peer& to = peer(send.peer);
  if (to.pieces_out >= tuned::kPiecesOut) return Put::kNotNow;
  Request& piece = requests_.take(Request::Kind::kPieceOut, send.peer, &send);
  piece.piece = send.buffer + send.begun;
  piece.bytes = std::min(kPieceBytes, send.granted - send.begun);
  name_piece(piece, static_cast<uint32_t>(send.partner), send, port().rails());
  if (rails_.mends() &&
      rails_.lost(send.peer, piece.rail)) {  // the receiver says which way it is to go
    send.begun += piece.bytes;
    requests_.give_back(piece);
    return Put::kYes;
  }
  if (const Posted posted = port().post(piece); posted != Posted::kYes) {
    const int rank = send.peer;
    const uint32_t rail = piece.rail;
    requests_.give_back(piece);
    if (posted == Posted::kFailed && may_mend(rank)) {
      frames_.lose_rail(rank, rail, port().error());
      return Put::kNotNow;
    }
    if (posted == Posted::kFailed) lose(rank, "sending to it");
    return Put::kNotNow;
  }
  ++to.pieces_out;
  send.begun += piece.bytes;
  return Put::kYes;
}

// A piece is no longer under way, whether it came over or not.
void FrameEndpoint::end_piece(Request& request) {
  PendingTransfer& operation = *request.operation;
  const int rank = request.peer;
  const bool receives = request.kind == Request::Kind::kPieceIn;
  if (!receives) --peer(rank).pieces_out;
  requests_.give_back(request);
  if (operation.is(Phase::kEnding)) {
    if (requests_.under_way(operation)) return;
    const bool is_whole =
        receives || !frames_.keeps() ? operation.moved == operation.limit : operation.taken;
    if (!is_whole) return finish(operation, why_not(rank));
  }
  if (!receives && frames_.keeps()) return finish_if_taken(operation);
  if (operation.moved == operation.limit) {
    dequeue(operation);
    if (!receives) return finish(operation, {});
    if (frames_.keeps()) frames_.add_notice(rank, FrameKind::kTaken, operation.partner);
    return finish_granted(operation);
  }
  if (receives && operation.state == State::kReceiving && operation.begun < operation.limit) {
    operation.state = State::kGranting;
    peer(rank).grants.push(operation);
    make_busy(rank);
  }
}

}  // namespace tutti::frames
