// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The common part of all transports' messages: sends and receives under way, and messages that came
// before their receive. A transport derives its own types from these and adds what it alone needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "core/status.hpp"
#include "transports/match/queue.hpp"
#include "transports/transport.hpp"

namespace tutti::match {

// The state of an operation. It is in the queue that its state names.
enum class State : uint8_t {
  kFree,
  kWaiting,    // send: for room (PeerQueues::waiting)
  kRequested,  // send: for the receiver's grant (no queue)
  kStreaming,  // send: pieces may go (PeerQueues::streams)
  kLocal,   // send to this rank: for the receive, UnexpectedMessage::local points to it (no queue)
  kPosted,  // receive: for a message (Matching)
  kGranting,   // receive: for room to send the grant (PeerQueues::grants)
  kReceiving,  // receive: for the pieces (no queue)
  kLinkOwned,  // states that only its transport knows
};

// A send or receive under way. `Self` derives from it, and adds renew(), which makes it a new one,
// and has_more(): of a granted send, whether another piece may go.
template <typename Self>
struct PendingTransfer {
  State state = State::kFree;
  int peer = 0;  // kAnySource for some receives in kPosted
  Transfer* transfer = nullptr;
  Tag tag = 0;
  Tag mask = kExactTag;
  std::byte* buffer = nullptr;  // memory of the message; a send only reads it
  uint64_t bytes = 0;           // length of the message, or of the receive's buffer
  uint64_t limit = 0;           // how much of the message goes over
  uint64_t moved = 0;           // bytes of `limit` that have moved
  uint64_t partner = 0;         // id by which the other end knows its operation
  uint64_t sequence = 0;        // order of posting
  // Number of its place; with `generation` the id by which the other end names it.
  uint32_t index = 0;
  uint32_t generation = 0;
  Self* previous = nullptr;
  Self* next = nullptr;

  [[nodiscard]] uint64_t id() const { return uint64_t{generation} << 32 | index; }
  // Whether the peer has not done its part yet: sent the message, or granted it.
  [[nodiscard]] bool waits_for_peer() const {
    return state == State::kPosted || state == State::kWaiting || state == State::kRequested;
  }
  // Whether its place may be taken once it is free.
  [[nodiscard]] bool is_reusable() const { return true; }
};

// A message that came before its receive. `Self` derives from it; `Send` is an operation.
template <typename Self, typename Send>
struct UnexpectedMessage {
  int source = 0;
  Tag tag = 0;
  uint64_t bytes = 0;
  uint64_t sequence = 0;              // order of arrival
  std::unique_ptr<std::byte[]> data;  // eager: the bytes
  uint64_t sender = 0;                // requested: the id of the send
  Send* local = nullptr;              // send of this rank to itself, if it is one
  bool eager = false;
  Self* previous = nullptr;
  Self* next = nullptr;
};

// The operations that wait between this rank and another.
template <typename Op>
struct PeerQueues {
  Queue<Op> waiting;  // sends not yet begun, in order
  Queue<Op> grants;   // receives whose grant is to be sent
  Queue<Op> streams;  // granted sends
  bool busy = false;  // the peer is in the engine's list
  bool left = false;  // the peer has said that it leaves: nothing more comes from it
  Status failure;     // nothing goes to or from it any more

  [[nodiscard]] bool empty() const { return waiting.empty() && grants.empty() && streams.empty(); }
};

// All operations of an endpoint, those that are free included.
template <typename Op>
class Pool {
 public:
  Op& take() {
    if (free_.empty()) {
      Op& added = operations_.emplace_back();
      added.index = static_cast<uint32_t>(operations_.size() - 1);
      free_.push(added);
    }
    Op& operation = *free_.first();
    free_.remove(operation);
    return operation;
  }
  void give_back(Op& operation) {
    operation.state = State::kFree;
    ++operation.generation;  // the id that peers still know finds nobody
    if (operation.is_reusable()) free_.push(operation);
  }
  // The one with this id, if it is under way with that peer; else null.
  Op* find(uint64_t id, int peer) {
    const uint64_t index = id & 0xffffffff;
    if (index >= operations_.size()) return nullptr;
    Op& operation = operations_[index];
    const bool is_it =
        operation.id() == id && operation.peer == peer && operation.state != State::kFree;
    return is_it ? &operation : nullptr;
  }
  // Visits all operations under way; `visit` may end them.
  void for_each(const auto& visit) {
    for (Op& operation : operations_) {
      if (operation.state != State::kFree) visit(operation);
    }
  }

 private:
  std::deque<Op> operations_;  // grows only; a deque, for addresses must stay
  Queue<Op> free_;
};

}  // namespace tutti::match
