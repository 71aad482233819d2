// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the network is asked to do and how that ends; the pieces of long messages.
#include <algorithm>

#include "transports/frames/endpoint.hpp"

namespace tutti::frames {
namespace {

constexpr size_t kBatch = 16;        // completions read at once
constexpr int kBatches = 16;         // per poll, so that what waits to go out has its turn
constexpr size_t kFramesIn = 32;     // posted buffers, on each rail
constexpr uint32_t kPiecesOut = 16;  // to one peer

size_t frames_in(const Port& port) {
  return std::min(kFramesIn, std::max<size_t>(port.most_receives() / 2, 1));
}

}  // namespace

uint64_t most_pieces(const Port& port) {
  const size_t most = port.most_receives();
  const size_t frames = frames_in(port);
  return most > frames ? most - frames : 1;
}

Status FrameEndpoint::open() {
  for (uint32_t rail = 0; rail < port_->rails(); ++rail) {
    for (size_t i = frames_in(*port_); i > 0; --i) {
      Request& frame = requests_.emplace_back();
      frame.kind = Request::Kind::kFrameIn;
      frame.memory = std::make_unique_for_overwrite<std::byte[]>(kFrameBytes);
      frame.rail = rail;
      if (port_->post(frame) == Posted::kYes) continue;
      return port_->error().with_context(fmt::format("posting a receive with {}", port_->where()));
    }
  }
  return {};
}

// ---- requests
// ------------------------------------------------------------------------------------

Request& FrameEndpoint::take_request(Request::Kind kind, int rank, Operation* operation) {
  const bool is_frame = kind == Request::Kind::kFrameOut;
  Queue<Request>& idle = is_frame ? idle_frames_ : idle_pieces_;
  if (idle.empty()) {
    Request& added = requests_.emplace_back();
    if (is_frame) added.memory = std::make_unique_for_overwrite<std::byte[]>(kFrameBytes);
    idle.push(added);
  }
  Request& request = *idle.first();
  idle.remove(request);
  request.kind = kind;
  request.peer = rank;
  request.operation = operation;
  return request;
}

void FrameEndpoint::give_back(Request& request) {
  request.operation = nullptr;
  (request.kind == Request::Kind::kFrameOut ? idle_frames_ : idle_pieces_).push(request);
}

// The next piece of a message, for whose receive `index` stands.
void FrameEndpoint::name_piece(Request& piece, uint32_t index, const Operation& operation) const {
  const uint64_t number = operation.begun / kPieceBytes;
  piece.tag = piece_tag(index, number);
  piece.rail = rail_of(operation.rail, number, port_->rails());
}

// Posts a receive again, now or later.
void FrameEndpoint::repost(Request& request) {
  const Posted posted = port_->post(request);
  if (posted == Posted::kNotNow) return reposts_.push(request);
  if (posted == Posted::kFailed) refused(request);
}

void FrameEndpoint::repost_all() {
  for (Request* request = reposts_.first(); request != nullptr && !port_->closed();
       request = reposts_.first()) {
    const Posted posted = port_->post(*request);
    if (posted == Posted::kNotNow) return;
    reposts_.remove(*request);
    if (posted == Posted::kFailed) refused(*request);
  }
}

// A receive could not be posted again: of a piece, its peer is lost; of frames, from anyone, all.
void FrameEndpoint::refused(Request& request) {
  if (request.kind != Request::Kind::kPieceIn) return close_for("posting a receive with");
  const int rank = request.peer;
  const Status reason = port_->error().with_context("posting a receive");
  end_piece(request);
  fail(rank, reason);
}

// The port has failed at `what`.
void FrameEndpoint::close_for(std::string_view what) {
  close(port_->error().with_context(fmt::format("{} {}", what, port_->where())));
}

// Whether the network may still touch the operation's buffer.
bool FrameEndpoint::in_flight(const Operation& operation) const {
  return std::any_of(requests_.begin(), requests_.end(), [&](const Request& request) {
    return request.operation == &operation && request.kind != Request::Kind::kFrameOut &&
           request.piece != sink_.get();
  });
}

// ---- completions
// ---------------------------------------------------------------------------------

bool FrameEndpoint::poll_until(const Transfer* wanted) {
  if (port_->closed()) return false;
  if (!reposts_.empty()) repost_all();
  bool moved = false;
  Completion completions[kBatch];
  for (int batch = 0; batch < kBatches && !port_->closed(); ++batch) {
    const ptrdiff_t count = port_->poll(completions);
    if (count < 0) close_for("reading the completions of");
    if (count <= 0) break;
    moved = true;
    if (completions[0].end != Completion::End::kDone) {
      failed(*completions[0].request, completions[0].end == Completion::End::kCancelled);
      continue;
    }
    for (ptrdiff_t i = 0; i < count && !port_->closed(); ++i) {
      completed(*completions[i].request, completions[i].bytes);
    }
    if (count < static_cast<ptrdiff_t>(kBatch) || (wanted != nullptr && wanted->done)) break;
  }
  if (!busy_.empty()) moved |= push_busy();
  return moved;
}

void FrameEndpoint::completed(Request& request, uint64_t bytes) {
  switch (request.kind) {
    case Request::Kind::kFrameOut: {
      --peer(request.peer).frames_out;
      Operation* send = request.operation;
      give_back(request);
      if (send != nullptr) finish(*send, {});
      return;
    }
    case Request::Kind::kFrameIn:
      take_frame(request, bytes);
      if (!port_->closed()) repost(request);
      return;
    case Request::Kind::kPieceIn:
      if (bytes != request.bytes) {
        const Status reason =
            Status::format(Code::kInternal, "a piece of {} bytes came where {} were expected",
                           bytes, request.bytes);
        const int rank = request.peer;
        end_piece(request);
        return fail(rank, reason);
      }
      request.operation->moved += bytes;
      return end_piece(request);
    case Request::Kind::kPieceOut:
      request.operation->moved += request.bytes;
      return end_piece(request);
  }
}

// A piece is no longer under way, whether it came over or not.
void FrameEndpoint::end_piece(Request& request) {
  Operation& operation = *request.operation;
  const int rank = request.peer;
  const bool receives = request.kind == Request::Kind::kPieceIn;
  if (receives) {
    --pieces_in_;
  } else {
    --peer(rank).pieces_out;
  }
  give_back(request);
  if (operation.state == State::kEnding) {
    if (!in_flight(operation)) finish(operation, peer(rank).failure);
    return;
  }
  if (operation.moved == operation.limit) {
    leave_queue(operation);
    if (!receives || operation.transfer == nullptr) return finish(operation, {});
    return finish_receive(operation, rank, operation.transfer->tag, operation.transfer->bytes);
  }
  if (receives && operation.state == State::kReceiving && operation.begun < operation.limit) {
    operation.state = State::kGranting;
    peer(rank).grants.push(operation);
    make_busy(rank);
  }
}

// The port has failed at `what`, which concerns that peer only.
void FrameEndpoint::lose(int rank, std::string_view what) {
  const Status reason = port_->error();
  fail(rank,
       Status::format(Code::kPeerFailed, "{} over {}: {}", what, port_->where(), reason.message()));
}

void FrameEndpoint::failed(Request& request, bool cancelled) {
  const int rank = request.peer;
  switch (request.kind) {
    case Request::Kind::kFrameOut:
      --peer(rank).frames_out;
      give_back(request);
      return lose(rank, "sending to it");
    case Request::Kind::kFrameIn:
      // Who sent it cannot be told: something too long comes from no rank of ours.
      return repost(request);
    case Request::Kind::kPieceIn:
      if (cancelled && request.operation->state != State::kEnding) {
        request.piece = sink_.get();
        return repost(request);
      }
      end_piece(request);
      if (cancelled) return;
      return lose(rank, "receiving from it");
    case Request::Kind::kPieceOut: end_piece(request); return lose(rank, "sending to it");
  }
}

// ---- pieces
// --------------------------------------------------------------------------------------

// Posts what may be posted of the next receive that has something to post or to grant, and grants
// it. Whether that is done with.
bool FrameEndpoint::push_grant(int rank) {
  Peer& from = peer(rank);
  Operation* receive = from.grants.first();
  if (receive == nullptr) return false;
  const uint64_t ahead = kPiecesAhead * kPieceBytes * port_->rails();
  while (receive->begun < receive->limit && receive->begun - receive->moved < ahead &&
         post_piece(*receive)) {
  }
  if (!from.failure.ok()) return false;  // and the receive is no more
  const bool first = receive->granted == 0;
  if (receive->begun == receive->granted && !(first && receive->limit == 0)) {
    if (receive->begun == receive->moved) return false;
    // It comes back when a piece has come.
    from.grants.remove(*receive);
    receive->state = State::kReceiving;
    return true;
  }
  FrameHead head{};
  head.kind = FrameKind::kGrant;
  head.id = receive->partner;
  head.tag = grant_tag(receive->index, receive->rail);
  head.bytes = receive->limit;
  head.upto = receive->begun;
  if (!push_frame(rank, head, nullptr, nullptr)) return false;
  from.grants.remove(*receive);
  receive->state = State::kReceiving;
  receive->granted = receive->begun;
  if (receive->limit == 0) {
    finish_receive(*receive, rank, receive->transfer->tag, receive->transfer->bytes);
  }
  return true;
}

bool FrameEndpoint::post_piece(Operation& receive) {
  if (pieces_in_ >= most_pieces_in_) return false;
  Request& piece = take_request(Request::Kind::kPieceIn, receive.peer, &receive);
  const bool wanted = receive.transfer != nullptr;
  piece.piece = wanted ? receive.buffer + receive.begun : sink_.get();
  piece.bytes = std::min(kPieceBytes, receive.limit - receive.begun);
  name_piece(piece, receive.index, receive);
  if (const Posted posted = port_->post(piece); posted != Posted::kYes) {
    give_back(piece);
    if (posted == Posted::kFailed) {
      fail(receive.peer, port_->error().with_context("posting a receive"));
    }
    return false;
  }
  ++pieces_in_;
  receive.begun += piece.bytes;
  return true;
}

// One piece of the next message under way.
bool FrameEndpoint::push_piece(int rank) {
  Peer& to = peer(rank);
  Operation& send = *to.streams.first();
  if (to.pieces_out >= kPiecesOut) return false;
  Request& piece = take_request(Request::Kind::kPieceOut, rank, &send);
  piece.piece = send.buffer + send.begun;
  piece.bytes = std::min(kPieceBytes, send.granted - send.begun);
  name_piece(piece, static_cast<uint32_t>(send.partner), send);
  if (const Posted posted = port_->post(piece); posted != Posted::kYes) {
    give_back(piece);
    if (posted == Posted::kFailed) lose(rank, "sending to it");
    return false;
  }
  ++to.pieces_out;
  send.begun += piece.bytes;
  to.streams.remove(send);
  send.state = State::kSending;
  if (send.begun < send.granted) {
    send.state = State::kStreaming;
    to.streams.push(send);
  }
  return true;
}

}  // namespace tutti::frames
