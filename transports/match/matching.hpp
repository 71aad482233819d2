// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Which message meets which receive: receives that wait for a message, and messages that wait for
// a receive, each in the order they came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "transports/match/posted.hpp"
#include "transports/match/queue.hpp"
#include "transports/transport.hpp"

namespace tutti::match {

// A send or receive under way. It is in the queue that its state names.
struct Operation {
  enum class State : uint8_t {
    kFree,
    kWaiting,    // send: for room (Peer::waiting)
    kSending,    // send: is on its way (no queue; not in shared memory, where it is there at once)
    kRequested,  // send: for the receiver's grant (no queue)
    kStreaming,  // send: pieces are under way (Peer::streams)
    kLocal,      // send to this rank: for the receive, Message::local points to it (no queue)
    kPosted,     // receive: for a message (Matching)
    kGranting,   // receive: for room to send the grant (Peer::grants)
    kPulling,    // receive: is reading the sender's buffer (Peer::pulls, in shared memory)
    kReceiving,  // receive: for the pieces (no queue)
    kEnding,     // failed: for what is still under way over a network (no queue)
  };
  State state = State::kFree;
  int peer = 0;  // of a receive in kPosted: may be kAnySource
  Transfer* transfer = nullptr;
  Tag tag = 0;
  Tag mask = kExactTag;
  std::byte* buffer = nullptr;  // of a send: only read
  uint64_t bytes = 0;           // of the message, or of the receive's buffer
  uint64_t limit = 0;           // how much of the message goes over
  uint64_t moved = 0;           // of `limit`
  uint64_t begun = 0;           // of `limit`: moved or under way (over a network)
  uint64_t granted = 0;         // of `limit`: what the sender may begin (over a network)
  uint64_t partner = 0;         // the id of the operation at the other end
  uint64_t address = 0;         // of a receive in kPulling: where the message lies
  uint32_t withdrawn = 0;       // what its request said (ring.hpp)
  uint32_t rail = 0;            // of its first piece (over a network)
  double begun_s = 0;           // of a long receive in shared memory: when it met its message
  double worked_s = 0;          // and what work it has been (ShmEndpoint::work_of)
  uint64_t sequence = 0;        // order of posting
  uint32_t index = 0;           // with `generation` the id by which the other end names this one
  uint32_t generation = 0;
  bool past_caches = false;  // a receive in shared memory: so is `buffer` written
  bool retired = false;      // not to be used again: pieces may still come for it (over a network)
  // Of a receive in kPulling: where this rank sees the message, in an arena; null if it does not.
  const std::byte* seen = nullptr;
  Operation* previous = nullptr;
  Operation* next = nullptr;

  [[nodiscard]] uint64_t id() const { return uint64_t{generation} << 32 | index; }
};

// A message that came before its receive.
struct Message {
  int source = 0;
  Tag tag = 0;
  uint64_t bytes = 0;
  uint64_t sequence = 0;              // order of arrival
  std::unique_ptr<std::byte[]> data;  // eager: the bytes
  uint64_t sender = 0;                // requested: the id of the send
  uint64_t address = 0;               // and in shared memory where it lies
  uint32_t withdrawn = 0;             // and what its request said (ring.hpp)
  double seconds = 0;                 // long and eager, in shared memory: what it took so far
  Operation* local = nullptr;         // from this rank: the send
  bool eager = false;
  Message* previous = nullptr;
  Message* next = nullptr;
};

class Matching {
 public:
  explicit Matching(int ranks);
  ~Matching();
  Matching(const Matching&) = delete;

  void post(Operation& receive);
  void unpost(Operation& receive);
  // The first receive that takes a message of this tag from this source, no longer posted; null if
  // there is none.
  Operation* take_posted(int source, Tag tag);

  void keep(std::unique_ptr<Message> message);
  // The first message that such a receive takes; null if there is none.
  std::unique_ptr<Message> take_message(int source, Tag tag, Tag mask);
  // Drops the message of a send to this rank that is cancelled.
  void drop_local(int rank, const Operation& send);

 private:
  struct Source {
    Posted<Operation> posted;
    Queue<Message> messages;
  };
  Posted<Operation>& posted_for(int source) {
    return source == kAnySource ? posted_any_ : sources_[static_cast<size_t>(source)].posted;
  }
  Operation* find_and_take(int source, Tag tag);
  [[nodiscard]] Message* find_message(int source, Tag tag, Tag mask) const;
  std::unique_ptr<Message> detach(Message& message);

  std::vector<Source> sources_;
  Posted<Operation> posted_any_;
  uint64_t posted_ = 0;   // so far
  uint64_t arrived_ = 0;  // so far
};

}  // namespace tutti::match
