// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/match/matching.hpp"

namespace tutti::match {
namespace {

Operation* find_posted(const Queue<Operation>& queue, Tag tag) {
  Operation* receive = queue.first();
  while (receive != nullptr && ((receive->tag ^ tag) & receive->mask) != 0) receive = receive->next;
  return receive;
}

}  // namespace

Matching::Matching(int ranks) : sources_(static_cast<size_t>(ranks)) {}

Matching::~Matching() {
  for (Source& source : sources_) {
    while (!source.messages.empty()) detach(*source.messages.first());
  }
}

void Matching::post(Operation& receive) {
  receive.state = Operation::State::kPosted;
  receive.sequence = posted_++;
  if (receive.peer == kAnySource) return posted_any_.push(receive);
  sources_[static_cast<size_t>(receive.peer)].posted.push(receive);
}

void Matching::unpost(Operation& receive) {
  if (receive.peer == kAnySource) return posted_any_.remove(receive);
  sources_[static_cast<size_t>(receive.peer)].posted.remove(receive);
}

Operation* Matching::take_posted(int source, Tag tag) {
  Operation* own = find_posted(sources_[static_cast<size_t>(source)].posted, tag);
  Operation* any = find_posted(posted_any_, tag);
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
