// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Which message meets which receive: receives that wait for a message, and messages that wait for
// a receive, each in the order they came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "transports/match/pending_transfer.hpp"
#include "transports/match/posted_receives.hpp"
#include "transports/match/queue.hpp"
#include "transports/transport.hpp"

namespace tutti::match {

// `Op` and `Unexpected` are a transport's operation and message (pending_transfer.hpp).
template <typename Op, typename Unexpected>
class Matching {
 public:
  explicit Matching(int ranks) : sources_(static_cast<size_t>(ranks)) {}
  ~Matching() {
    for (Source& source : sources_) {
      while (!source.messages.empty()) detach(*source.messages.first());
    }
  }
  Matching(const Matching&) = delete;

  void post(Op& receive) {
    receive.state = State::kPosted;
    receive.sequence = posted_++;
    posted_for(receive.peer).push(receive);
  }
  void unpost(Op& receive) { posted_for(receive.peer).remove(receive); }
  // The first receive that takes a message of this tag from this source, no longer posted; null if
  // there is none.
  Op* take_posted(int source, Tag tag) {
    if (posted_any_.empty()) [[likely]] {
      Op* const first = sources_[static_cast<size_t>(source)].posted.take_first(tag);
      if (first != nullptr) [[likely]]
        return first;
    }
    return find_and_take(source, tag);
  }

  void keep(std::unique_ptr<Unexpected> message) {
    message->sequence = arrived_++;
    Queue<Unexpected>& queue = sources_[static_cast<size_t>(message->source)].messages;
    queue.push(*message.release());
  }
  // The first message that such a receive takes; null if there is none.
  std::unique_ptr<Unexpected> take_message(int source, Tag tag, Tag mask) {
    Unexpected* const found =
        source != kAnySource ? find_message(source, tag, mask) : oldest(tag, mask);
    return found != nullptr ? detach(*found) : nullptr;
  }
  // Finds the same message, which stays where it is.
  [[nodiscard]] const Unexpected* first_message(int source, Tag tag, Tag mask) const {
    return source != kAnySource ? find_message(source, tag, mask) : oldest(tag, mask);
  }
  // Drops the message of a send to this rank that is cancelled.
  void drop_local(int rank, const Op& send) {
    Unexpected* message = sources_[static_cast<size_t>(rank)].messages.first();
    while (message != nullptr && message->local != &send) message = message->next;
    if (message != nullptr) detach(*message);
  }

 private:
  struct Source {
    PostedReceives<Op> posted;
    Queue<Unexpected> messages;
  };

  PostedReceives<Op>& posted_for(int source) {
    return source == kAnySource ? posted_any_ : sources_[static_cast<size_t>(source)].posted;
  }
  [[gnu::noinline]] Op* find_and_take(int source, Tag tag) {
    Op* const own = posted_for(source).find(tag);
    Op* const any = posted_any_.find(tag);
    Op* receive = own;
    if (own == nullptr || (any != nullptr && any->sequence < own->sequence)) receive = any;
    if (receive != nullptr) unpost(*receive);
    return receive;
  }
  [[nodiscard]] Unexpected* find_message(int source, Tag tag, Tag mask) const {
    Unexpected* message = sources_[static_cast<size_t>(source)].messages.first();
    while (message != nullptr && ((message->tag ^ tag) & mask) != 0) message = message->next;
    return message;
  }
  // The oldest match from any source.
  [[nodiscard]] Unexpected* oldest(Tag tag, Tag mask) const {
    Unexpected* found = nullptr;
    for (int source = 0; source < static_cast<int>(sources_.size()); ++source) {
      Unexpected* const candidate = find_message(source, tag, mask);
      if (candidate != nullptr && (found == nullptr || candidate->sequence < found->sequence)) {
        found = candidate;
      }
    }
    return found;
  }
  std::unique_ptr<Unexpected> detach(Unexpected& message) {
    sources_[static_cast<size_t>(message.source)].messages.remove(message);
    return std::unique_ptr<Unexpected>(&message);
  }

  std::vector<Source> sources_;
  PostedReceives<Op> posted_any_;
  uint64_t posted_ = 0;   // receives posted so far
  uint64_t arrived_ = 0;  // messages arrived so far
};

}  // namespace tutti::match
