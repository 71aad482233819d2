// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/match/matching.hpp"

namespace tutti::match {

Matching::Matching(int ranks) : sources_(static_cast<size_t>(ranks)) {}

Matching::~Matching() {
  for (Source& source : sources_) {
    while (!source.messages.empty()) detach(*source.messages.first());
  }
}

void Matching::post(Operation& receive) {
  receive.state = Operation::State::kPosted;
  receive.sequence = posted_++;
  posted_for(receive.peer).push(receive);
}

void Matching::unpost(Operation& receive) { posted_for(receive.peer).remove(receive); }

Operation* Matching::take_posted(int source, Tag tag) {
  if (posted_any_.empty()) [[likely]] {
    Operation* const first = sources_[static_cast<size_t>(source)].posted.take_first(tag);
    if (first != nullptr) [[likely]]
      return first;
  }
  return find_and_take(source, tag);
}

[[gnu::noinline]] Operation* Matching::find_and_take(int source, Tag tag) {
  Operation* const own = posted_for(source).find(tag);
  Operation* const any = posted_any_.find(tag);
  Operation* receive = own;
  if (own == nullptr || (any != nullptr && any->sequence < own->sequence)) receive = any;
  if (receive != nullptr) unpost(*receive);
  return receive;
}

void Matching::keep(std::unique_ptr<Message> message) {
  message->sequence = arrived_++;
  Queue<Message>& queue = sources_[static_cast<size_t>(message->source)].messages;
  queue.push(*message.release());
}

Message* Matching::find_message(int source, Tag tag, Tag mask) const {
  Message* message = sources_[static_cast<size_t>(source)].messages.first();
  while (message != nullptr && ((message->tag ^ tag) & mask) != 0) message = message->next;
  return message;
}

std::unique_ptr<Message> Matching::detach(Message& message) {
  sources_[static_cast<size_t>(message.source)].messages.remove(message);
  return std::unique_ptr<Message>(&message);
}

std::unique_ptr<Message> Matching::take_message(int source, Tag tag, Tag mask) {
  Message* found = nullptr;
  if (source != kAnySource) {
    found = find_message(source, tag, mask);
  } else {
    for (int s = 0; s < static_cast<int>(sources_.size()); ++s) {
      Message* candidate = find_message(s, tag, mask);
      if (candidate != nullptr && (found == nullptr || candidate->sequence < found->sequence)) {
        found = candidate;
      }
    }
  }
  return found != nullptr ? detach(*found) : nullptr;
}

void Matching::drop_local(int rank, const Operation& send) {
  Message* message = sources_[static_cast<size_t>(rank)].messages.first();
  while (message != nullptr && message->local != &send) message = message->next;
  if (message != nullptr) detach(*message);
}

}  // namespace tutti::match
