// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/frames/requests.hpp"

#include <algorithm>

#include "transports/frames/frame.hpp"

namespace tutti::frames {
namespace {

// The posted buffers on each rail. At least half of the receives that a port
// allows are left to pieces.
constexpr size_t kFramesIn = 32;

size_t frames_in(const Port& port) {
  return std::min(kFramesIn, std::max<size_t>(port.most_receives() / 2, 1));
}

uint64_t most_pieces(const Port& port) {
  const size_t most = port.most_receives();
  const size_t frames = frames_in(port);
  return most > frames ? most - frames : 1;
}

}  // namespace

Requests::Requests(std::unique_ptr<Port> port)
    : port_(std::move(port)), most_receiving_(most_pieces(*port_)) {}

Status Requests::open() {
  for (uint32_t rail = 0; rail < port_->rails(); ++rail) {
    for (size_t i = frames_in(*port_); i > 0; --i) {
      PortRequest& frame = requests_.emplace_back();
      frame.kind = PortRequest::Kind::kFrameIn;
      frame.memory = std::make_unique_for_overwrite<std::byte[]>(kFrameBytes);
      frame.rail = rail;
      if (port_->post(frame) == PostOutcome::kYes) continue;
      return port_->error().with_context(fmt::format("posting a receive with {}", port_->where()));
    }
  }
  return {};
}

PortRequest& Requests::take(PortRequest::Kind kind, int peer, PendingTransfer* operation) {
  const bool is_frame = kind == PortRequest::Kind::kFrameOut;
  match::Queue<PortRequest>& idle = is_frame ? idle_frames_ : idle_pieces_;
  if (idle.empty()) {
    PortRequest& added = requests_.emplace_back();
    if (is_frame) added.memory = std::make_unique_for_overwrite<std::byte[]>(kFrameBytes);
    idle.push(added);
  }
  PortRequest& request = *idle.first();
  idle.remove(request);
  request.kind = kind;
  request.peer = peer;
  request.operation = operation;
  if (kind == PortRequest::Kind::kPieceIn) ++receiving_;
  return request;
}

void Requests::give_back(PortRequest& request) {
  if (request.kind == PortRequest::Kind::kPieceIn) --receiving_;
  request.operation = nullptr;
  (request.kind == PortRequest::Kind::kFrameOut ? idle_frames_ : idle_pieces_).push(request);
}

bool Requests::repost(PortRequest& request) {
  const PostOutcome posted = port_->post(request);
  if (posted == PostOutcome::kNotNow) later_.push(request);
  return posted != PostOutcome::kFailed;
}

PortRequest* Requests::repost_waiting() {
  while (!later_.empty() && !port_->closed()) {
    PortRequest& request = *later_.first();
    const PostOutcome posted = port_->post(request);
    if (posted == PostOutcome::kNotNow) return nullptr;
    later_.remove(request);
    if (posted == PostOutcome::kFailed) return &request;
  }
  return nullptr;
}

namespace {

bool is_piece_of(const PortRequest& request, const PendingTransfer& operation) {
  return request.operation == &operation && request.kind != PortRequest::Kind::kFrameOut;
}

}  // namespace

bool Requests::under_way(const PendingTransfer& operation) const {
  return std::ranges::any_of(
      requests_, [&](const PortRequest& request) { return is_piece_of(request, operation); });
}

bool Requests::in_flight(const PendingTransfer& operation) const {
  return std::ranges::any_of(requests_, [&](const PortRequest& request) {
    return is_piece_of(request, operation) && request.piece != sink_.get();
  });
}

void Requests::withdraw(const PendingTransfer& operation) {
  for (PortRequest& request : requests_) {
    if (request.operation != &operation) continue;
    if (request.kind == PortRequest::Kind::kFrameOut)
      request.operation = nullptr;  // has its own copy
    if (request.kind == PortRequest::Kind::kPieceIn && !port_->closed()) port_->cancel(request);
  }
}

void Requests::forget_operations() {
  for (PortRequest& request : requests_) request.operation = nullptr;
}

std::byte* Requests::sink() {
  if (sink_ == nullptr) sink_ = std::make_unique_for_overwrite<std::byte[]>(kPieceBytes);
  return sink_.get();
}

}  // namespace tutti::frames
