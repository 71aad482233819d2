// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The engine of messages over a link that is nothing but lists: all ranks in one process, and each
// frame at hand.
#pragma once

#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "transports/match/engine.hpp"
#include "transports/match/engine_steps.hpp"

namespace tutti_test {

struct FakeTransfer : tutti::match::PendingTransfer<FakeTransfer> {
  void renew() { moved = 0; }
  [[nodiscard]] bool has_more() const { return moved < limit; }
};
struct FakeUnexpected : tutti::match::UnexpectedMessage<FakeUnexpected, FakeTransfer> {};
struct FakePeer : tutti::match::PeerQueues<FakeTransfer> {
  uint64_t unmatched = 0;  // cost of what was sent to it and has met no receive
};
struct FakeTypes {
  using PendingTransfer = FakeTransfer;
  using UnexpectedMessage = FakeUnexpected;
  using Peer = FakePeer;
  static constexpr uint64_t kEagerBytes = 16;
  static constexpr uint64_t kMessageCost = tutti::match::kUnmatchedBytes / 4;
};

// What one rank has sent to another. `kind`: Eager, Request, Grant, Piece.
struct FakeFrame {
  char kind = 'E';
  tutti::Tag tag = 0;
  uint64_t bytes = 0;
  uint64_t from = 0;  // the id of the operation that it is of
  uint64_t to = 0;    // the id of that at the other end
  std::vector<std::byte> payload = {};
};

class FakeEndpoint;

// What joins the ranks.
class FakeWire {
 public:
  explicit FakeWire(int ranks);

  FakeEndpoint& operator[](int rank) { return *ends_[static_cast<size_t>(rank)]; }
  std::deque<FakeFrame>& frames(int from, int to) {
    return frames_[static_cast<size_t>(from)][static_cast<size_t>(to)];
  }
  // The kinds of all frames so far, in the order sent.
  std::string sent;
  // So many frames may lie between two ranks.
  size_t room = 1000;
  // A frame of this kind cannot be sent any more, and its operation fails.
  char refused = 0;

 private:
  std::vector<std::vector<std::deque<FakeFrame>>> frames_;
  std::vector<std::unique_ptr<FakeEndpoint>> ends_;
};

class FakeEndpoint final : public tutti::match::Engine<FakeEndpoint, FakeTypes> {
 public:
  static constexpr uint64_t kPieceBytes = 8;

  FakeEndpoint(FakeWire& wire, int rank, int ranks) : Engine(rank, ranks), wire_(wire) {}
  // A peer is found to have failed, or to have left.
  using Engine::fail;
  using Engine::note_left;

 private:
  friend class tutti::match::Engine<FakeEndpoint, FakeTypes>;
  using Put = tutti::match::Put;
  using State = tutti::match::State;
  using Status = tutti::Status;

  [[nodiscard]] bool is_up(int rank) const { return why_not(rank).ok(); }
  [[nodiscard]] Status why_not(int rank) const {
    if (rank == tutti::kAnySource) return {};
    if (has_left(rank)) return {tutti::Code::kPeerFailed, "it has left"};
    return peer(rank).failure;
  }
  bool push(int rank) {
    bool moved = false;
    while (push_turn(rank)) moved = true;
    return moved;
  }
  static bool owes(int /*rank*/) { return false; }

  bool poll_until(const tutti::Transfer* wanted) {
    bool moved = false;
    for (int rank = 0; rank < ranks(); ++rank) {
      std::deque<FakeFrame>& frames = wire_.frames(rank, rank_);
      while (!frames.empty() && !(wanted != nullptr && wanted->done)) {
        const FakeFrame frame = std::move(frames.front());
        frames.pop_front();
        handle(rank, frame);
        moved = true;
      }
    }
    moved |= push_busy();
    return moved;
  }
  void handle(int rank, const FakeFrame& frame) {
    if (frame.kind == 'E') {
      return eager_came(rank, frame.tag, frame.bytes,
                        [&](std::byte* dst, uint64_t wanted, const FakeUnexpected*) {
                          if (wanted > 0) std::memcpy(dst, frame.payload.data(), wanted);
                        });
    }
    if (frame.kind == 'R') {
      FakeUnexpected message;
      message.source = rank;
      message.tag = frame.tag;
      message.bytes = frame.bytes;
      message.sender = frame.from;
      return request_came(std::move(message));
    }
    FakeTransfer* const operation = pool_.find(frame.to, rank);
    if (operation == nullptr) return;  // it was cancelled
    if (frame.kind == 'G') {
      if (frame.bytes == 0) return finish(*operation, {});
      operation->limit = frame.bytes;
      operation->partner = frame.from;
      return stream(*operation);
    }
    std::memcpy(operation->buffer + operation->moved, frame.payload.data(), frame.bytes);
    operation->moved += frame.bytes;
    if (!operation->has_more()) finish_granted(*operation);
  }

  [[nodiscard]] bool may_be_eager(const FakeTransfer& send) const {
    return send.bytes <= FakeTypes::kEagerBytes &&
           peer(send.peer).unmatched <= tutti::match::kUnmatchedBytes;
  }
  Put put_first(FakeTransfer& send, bool eager) {
    const Put put = this->put(send, {eager ? 'E' : 'R', send.tag, send.bytes, send.id()},
                              send.buffer, eager ? send.bytes : 0);
    if (eager && put == Put::kYes) peer(send.peer).unmatched += cost(send.bytes);
    return put;
  }
  Put put_grant(FakeTransfer& receive) {
    return put(receive, {'G', 0, receive.limit, receive.id(), receive.partner}, nullptr, 0);
  }
  Put put_piece(FakeTransfer& send) {
    const uint64_t bytes = std::min(kPieceBytes, send.limit - send.moved);
    const Put put = this->put(send, {'P', send.tag, bytes, send.id(), send.partner},
                              send.buffer + send.moved, bytes);
    if (put == Put::kYes) send.moved += bytes;
    return put;
  }
  Put put(FakeTransfer& operation, FakeFrame frame, const std::byte* payload, uint64_t bytes) {
    if (frame.kind == wire_.refused) {
      dequeue(operation);
      finish(operation, {tutti::Code::kOutOfMemory, "refused"});
      return Put::kOver;
    }
    std::deque<FakeFrame>& frames = wire_.frames(rank_, operation.peer);
    if (frames.size() >= wire_.room) return Put::kNotNow;
    if (bytes > 0) frame.payload.assign(payload, payload + bytes);
    wire_.sent += frame.kind;
    frames.push_back(std::move(frame));
    return Put::kYes;
  }
  void note_sent(FakeTransfer& send) { finish(send, {}); }

  static bool begin_own_route(FakeTransfer& /*receive*/, const FakeUnexpected& /*message*/) {
    return false;
  }
  static void take_kept(std::byte* dst, const FakeUnexpected& message, uint64_t wanted) {
    if (wanted > 0) std::memcpy(dst, message.data.get(), wanted);
  }
  void count_matched(int rank, uint64_t bytes) { wire_[rank].peer(rank_).unmatched -= cost(bytes); }
  static uint64_t cost(uint64_t bytes) { return bytes + FakeTypes::kMessageCost; }

  void take_back(FakeTransfer& operation) {
    dequeue(operation);
    release(operation);
  }
  void abandon(FakeTransfer& operation) {
    dequeue(operation);
    finish(operation, why_not(operation.peer));
  }

  FakeWire& wire_;
};

inline FakeWire::FakeWire(int ranks)
    : frames_(static_cast<size_t>(ranks),
              std::vector<std::deque<FakeFrame>>(static_cast<size_t>(ranks))) {
  for (int rank = 0; rank < ranks; ++rank) {
    ends_.push_back(std::make_unique<FakeEndpoint>(*this, rank, ranks));
  }
}

}  // namespace tutti_test
