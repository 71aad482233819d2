// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the provider is asked to do and how that ends; the pieces of long messages.
#include <algorithm>

#include "transports/ofi/endpoint.hpp"

namespace tutti::ofi {
namespace {

constexpr size_t kBatch = 16;        // completions read at once
constexpr int kBatches = 16;         // per poll, so that what waits to go out has its turn
constexpr size_t kFramesIn = 32;     // posted buffers
constexpr uint32_t kPiecesOut = 16;  // to one peer

size_t frames_in(const Domain& domain) {
  return std::min(kFramesIn, std::max<size_t>(domain.info->rx_attr->size / 2, 1));
}

}  // namespace

uint64_t most_pieces(const Domain& domain) {
  const size_t size = domain.info->rx_attr->size;
  const size_t frames = frames_in(domain);
  return size > frames ? size - frames : 1;
}

Status OfiEndpoint::open() {
  for (size_t i = frames_in(port_->domain()); i > 0; --i) {
    Request& frame = requests_.emplace_back();
    frame.kind = Request::Kind::kFrameIn;
    frame.memory = std::make_unique_for_overwrite<std::byte[]>(kFrameBytes);
    if (const ssize_t code = post(frame); code != 0) {
      return failure(code, fmt::format("posting a receive with {}", port_->domain().where));
    }
  }
  return {};
}

// ---- requests
// ------------------------------------------------------------------------------------

Request& OfiEndpoint::take_request(Request::Kind kind, int rank, Operation* operation) {
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

void OfiEndpoint::give_back(Request& request) {
  request.operation = nullptr;
  (request.kind == Request::Kind::kFrameOut ? idle_frames_ : idle_pieces_).push(request);
}

// 0, or libfabric's negative number; -FI_EAGAIN: not now.
ssize_t OfiEndpoint::post(Request& request) {
  fid_ep* endpoint = port_->endpoint();
  switch (request.kind) {
    case Request::Kind::kFrameOut:
      return fi_send(endpoint, request.memory.get(), request.bytes, nullptr,
                     port_->peer(request.peer), &request.context);
    case Request::Kind::kFrameIn:
      return fi_recv(endpoint, request.memory.get(), kFrameBytes, nullptr, FI_ADDR_UNSPEC,
                     &request.context);
    case Request::Kind::kPieceOut:
      return fi_tsend(endpoint, request.piece, request.bytes, nullptr, port_->peer(request.peer),
                      request.tag, &request.context);
    case Request::Kind::kPieceIn:
      return fi_trecv(endpoint, request.piece, request.bytes, nullptr, FI_ADDR_UNSPEC, request.tag,
                      0, &request.context);
  }
  return -FI_EINVAL;
}

// Posts a receive again, now or later.
void OfiEndpoint::repost(Request& request) {
  const ssize_t code = post(request);
  if (code == 0) return;
  if (code == -FI_EAGAIN) return reposts_.push(request);
  close(failure(code, fmt::format("posting a receive with {}", port_->domain().where)));
}

void OfiEndpoint::repost_all() {
  for (Request* request = reposts_.first(); request != nullptr && !port_->closed();
       request = reposts_.first()) {
    const ssize_t code = post(*request);
    if (code == -FI_EAGAIN) return;
    reposts_.remove(*request);
    if (code != 0) {
      close(failure(code, fmt::format("posting a receive with {}", port_->domain().where)));
    }
  }
}

// Whether the provider may still touch the operation's buffer.
bool OfiEndpoint::in_flight(const Operation& operation) const {
  return std::any_of(requests_.begin(), requests_.end(), [&](const Request& request) {
    return request.operation == &operation && request.kind != Request::Kind::kFrameOut &&
           request.piece != sink_.get();
  });
}

// ---- completions
// ---------------------------------------------------------------------------------

bool OfiEndpoint::poll_until(const Transfer* wanted) {
  if (port_->closed()) return false;
  if (!reposts_.empty()) repost_all();
  bool moved = false;
  fi_cq_msg_entry entries[kBatch];
  for (int batch = 0; batch < kBatches && !port_->closed(); ++batch) {
    const ssize_t count = fi_cq_read(port_->queue(), entries, kBatch);
    if (count == -FI_EAVAIL) {
      moved |= read_error();
      continue;
    }
    if (count < 0 && count != -FI_EAGAIN) {
      close(failure(count, fmt::format("reading what {} has done", port_->domain().where)));
    }
    if (count <= 0) break;
    moved = true;
    for (ssize_t i = 0; i < count && !port_->closed(); ++i) {
      completed(*static_cast<Request*>(entries[i].op_context), entries[i].len);
    }
    if (count < static_cast<ssize_t>(kBatch) || (wanted != nullptr && wanted->done)) break;
  }
  if (!busy_.empty()) moved |= push_busy();
  return moved;
}

void OfiEndpoint::completed(Request& request, uint64_t bytes) {
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
void OfiEndpoint::end_piece(Request& request) {
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

bool OfiEndpoint::read_error() {
  fi_cq_err_entry error{};
  if (fi_cq_readerr(port_->queue(), &error, 0) != 1) return false;
  char space[256] = "";
  const char* provider_text =
      fi_cq_strerror(port_->queue(), error.prov_errno, error.err_data, space, sizeof space);
  std::string text = fmt::format("{}: {}", port_->domain().where, library()->strerror(error.err));
  if (provider_text != nullptr && *provider_text != '\0') {
    text += fmt::format(" ({})", provider_text);
  }
  if (error.op_context != nullptr) {
    failed(*static_cast<Request*>(error.op_context), error, text);
  }
  return true;
}

void OfiEndpoint::failed(Request& request, const fi_cq_err_entry& error, const std::string& text) {
  const int rank = request.peer;
  const bool cancelled = error.err == FI_ECANCELED;
  switch (request.kind) {
    case Request::Kind::kFrameOut:
      --peer(rank).frames_out;
      give_back(request);
      return fail(rank, Status::format(Code::kPeerFailed, "sending to it over {}", text));
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
      return fail(rank, Status::format(Code::kPeerFailed, "receiving from it over {}", text));
    case Request::Kind::kPieceOut:
      end_piece(request);
      return fail(rank, Status::format(Code::kPeerFailed, "sending to it over {}", text));
  }
}

// ---- pieces
// --------------------------------------------------------------------------------------

// Posts what may be posted of the next receive that has something to post or to grant, and grants
// it. Whether that is done with.
bool OfiEndpoint::push_grant(int rank) {
  Peer& from = peer(rank);
  Operation* receive = from.grants.first();
  if (receive == nullptr) return false;
  while (receive->begun < receive->limit &&
         receive->begun - receive->moved < kPiecesAhead * kPieceBytes && post_piece(*receive)) {
  }
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
  head.tag = receive->index;
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

bool OfiEndpoint::post_piece(Operation& receive) {
  if (pieces_in_ >= most_pieces_in_) return false;
  Request& piece = take_request(Request::Kind::kPieceIn, receive.peer, &receive);
  const bool wanted = receive.transfer != nullptr;
  piece.piece = wanted ? receive.buffer + receive.begun : sink_.get();
  piece.bytes = std::min(kPieceBytes, receive.limit - receive.begun);
  piece.tag = piece_tag(receive.index, receive.begun / kPieceBytes);
  const ssize_t code = post(piece);
  if (code != 0) {
    give_back(piece);
    if (code != -FI_EAGAIN) fail(receive.peer, failure(code, "posting a receive"));
    return false;
  }
  ++pieces_in_;
  receive.begun += piece.bytes;
  return true;
}

// One piece of the next message under way.
bool OfiEndpoint::push_piece(int rank) {
  Peer& to = peer(rank);
  Operation& send = *to.streams.first();
  if (to.pieces_out >= kPiecesOut) return false;
  Request& piece = take_request(Request::Kind::kPieceOut, rank, &send);
  piece.piece = send.buffer + send.begun;
  piece.bytes = std::min(kPieceBytes, send.granted - send.begun);
  piece.tag = piece_tag(static_cast<uint32_t>(send.partner), send.begun / kPieceBytes);
  const ssize_t code = post(piece);
  if (code != 0) {
    give_back(piece);
    if (code != -FI_EAGAIN) fail(rank, failure(code, "sending to it"));
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

}  // namespace tutti::ofi
