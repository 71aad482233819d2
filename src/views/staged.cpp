// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A collective that passes through memory of the host: each piece is copied there, run as any call
// of the host, and copied back. While one is among the ranks, others are on their way.
#include <algorithm>
#include <cstring>

#include "views/agreement.hpp"
#include "views/device_collective.hpp"
#include "views/device_work.hpp"
#include "views/host_work.hpp"
#include "views/pieces.hpp"

namespace tutti {
namespace {

// Pieces at once: one on its way in, one among the ranks, one on its way out, one in reserve.
constexpr size_t kStagedAtATime = 4;

struct PiecesSummary : CallSummary {
  using CallSummary::CallSummary;
  uint64_t pieces = 1;
};

std::byte* bytes_at(const void* buffer) {
  return static_cast<std::byte*>(const_cast<void*>(buffer));
}

Status copy_on_host(void* to, const void* from, uint64_t bytes) {
  std::memcpy(to, from, bytes);
  return {};
}

template <typename Copy>
Status copy_in(const Copy& copy, const std::vector<Segment>& segments, const void* buffer,
               std::byte* stage) {
  for (const Segment& segment : segments) {
    TUTTI_RETURN_IF_ERROR(
        copy(stage + segment.in_stage, bytes_at(buffer) + segment.in_buffer, segment.bytes));
  }
  return {};
}

template <typename Copy>
Status copy_out(const Copy& copy, const std::vector<Segment>& segments, const void* buffer,
                const std::byte* stage) {
  for (const Segment& segment : segments) {
    TUTTI_RETURN_IF_ERROR(
        copy(bytes_at(buffer) + segment.in_buffer, stage + segment.in_stage, segment.bytes));
  }
  return {};
}

}  // namespace

Task DeviceCollective::stage(bool agreed) {
  // A call of several pieces could otherwise match several calls of a peer.
  if (!agreed && (pieces_ > 1 || pieces_are_own())) {
    Task agreement = agree_on_pieces();
    co_await agreement;
  }
  Pipeline pieces(pieces_, kStagedAtATime, [this](uint64_t index) { return stage_piece(index); });
  co_await pieces;
}

Task DeviceCollective::agree_on_pieces() {
  PiecesSummary own(call_);
  own.pieces = pieces_;
  std::vector<PiecesSummary> all(static_cast<size_t>(comm().ranks()));
  HostCall tells(activity_, comm());
  TUTTI_OR_FAIL(tells.start(agreement_call(call_.collective, own, all)));
  co_await tells;
  TUTTI_OR_FAIL(compare(comm(), all));
  for (const PiecesSummary& entry : all) pieces_ = std::max(pieces_, entry.pieces);
}

Task DeviceCollective::stage_piece(uint64_t index) {
  const bool copies = buffers_.on_device || pieces_ > 1 || pieces_are_own();
  StagedPiece piece;
  piece.call = call_;
  BorrowedMemory send;
  BorrowedMemory recv;
  DeviceWork work(activity_);
  HostCall on_host(activity_, comm());
  if (copies) {
    piece = piece_of(call_, comm().rank(), comm().ranks(), index);
    TUTTI_OR_FAIL(side_->take(activity_, piece.send_bytes, send));
    TUTTI_OR_FAIL(side_->take(activity_, piece.recv_bytes, recv));
    piece.call.send = send.data();
    piece.call.recv = recv.data();
  }
  const auto copy_from_device = [this](void* to, const void* from, uint64_t bytes) {
    return side_->from_device().copy(to, from, bytes);
  };
  const auto copy_to_device = [this](void* to, const void* from, uint64_t bytes) {
    return side_->to_device().copy(to, from, bytes);
  };
  if (buffers_.on_device) {
    work.begin(side_->from_device());
    TUTTI_OR_FAIL(after_marker(side_->from_device()));
    TUTTI_OR_FAIL(copy_in(copy_from_device, piece.send, call_.send, send.data()));
    TUTTI_OR_FAIL(copy_in(copy_from_device, piece.recv_in, call_.recv, recv.data()));
    co_await work;
  } else {
    co_await marker_passed();
  }
  co_await turns_.at(index);
  if (copies && !buffers_.on_device) {
    TUTTI_OR_FAIL(copy_in(copy_on_host, piece.send, call_.send, send.data()));
    TUTTI_OR_FAIL(copy_in(copy_on_host, piece.recv_in, call_.recv, recv.data()));
  }
  TUTTI_OR_FAIL(on_host.start(piece.call));
  turns_.next();
  co_await on_host;
  if (!copies) co_return;
  if (buffers_.on_device && !piece.recv_out.empty()) {
    work.begin(side_->to_device());
    TUTTI_OR_FAIL(copy_out(copy_to_device, piece.recv_out, call_.recv, recv.data()));
    co_await work;
  } else {
    TUTTI_OR_FAIL(copy_out(copy_on_host, piece.recv_out, call_.recv, recv.data()));
  }
}

}  // namespace tutti
