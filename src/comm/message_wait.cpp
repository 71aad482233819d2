// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "comm/message_wait.hpp"

#include <fmt/format.h>

#include <bit>

#include "comm/messages.hpp"
#include "transports/names.hpp"

namespace tutti {

void PendingMessage::fill(Wait& wait) const {
  wait.kind = arguments_.sends ? WaitKind::kSend : WaitKind::kRecv;
  wait.record = {};
  wait.record.count = arguments_.count;
  wait.record.type = static_cast<uint8_t>(arguments_.type);
  wait.record.root = arguments_.peer == TUTTI_ANY_SOURCE ? -1 : arguments_.peer;
  wait.record.detail =
      arguments_.tag == TUTTI_ANY_TAG ? UINT64_MAX : static_cast<uint64_t>(arguments_.tag);
}

CallRecord record_of(const MessageEnvelope& message) {
  CallRecord record{};
  record.type = static_cast<uint8_t>(message.tag >> kTypeShift & kTypeMask);
  const bool known = record.type < kDataTypes;
  record.count =
      known ? message.bytes / type_size(static_cast<DataType>(record.type)) : message.bytes;
  record.root = message.source;
  record.detail = message.tag & kUserTag;
  return record;
}

void PendingMessage::look(Wait& wait) const {
  fill(wait);
  const std::optional<MessageEnvelope> unexpected = endpoint_.unexpected_by(arguments_);
  wait.has_told = unexpected ? 1 : 0;
  wait.last = unexpected ? record_of(*unexpected) : CallRecord{};
  if (wait.record.root < 0) return;
  wait.awaited[0] = wait.record.root;
  if (endpoint_.transport().notes(wait.record.root, 0) == nullptr) {
    set_place(wait, endpoint_.transport().process(wait.record.root));
  }
}

std::string PendingMessage::what() const { return describe(arguments_, endpoint_.transport()); }

std::string PendingMessage::whom() const {
  const std::optional<MessageEnvelope> unexpected = endpoint_.unexpected_by(arguments_);
  const std::string instead = unexpected ? describe_unexpected(record_of(*unexpected)) : "";
  if (arguments_.peer == TUTTI_ANY_SOURCE) {
    return "no rank has sent it anything that it takes" + instead;
  }
  const PeerProcess& peer = endpoint_.transport().process(arguments_.peer);
  std::string text = fmt::format("{} has {}", name_of(arguments_.peer, peer),
                                 arguments_.sends ? "not taken it" : "sent nothing that it takes");
  return text + instead + state_behind(endpoint_.transport(), arguments_.peer);
}

PendingMessage PendingFirst::first() const { return {pending_.front().arguments, endpoint_}; }

void PendingStarted::fill(Wait& wait) const {
  const std::optional<MessageArguments> first = messages_.first_under_way();
  if (first) PendingMessage(*first, endpoint_).fill(wait);
}

void PendingStarted::look(Wait& wait) const {
  const std::optional<MessageArguments> first = messages_.first_under_way();
  if (first) PendingMessage(*first, endpoint_).look(wait);
}

std::string PendingStarted::what() const {
  const std::optional<MessageArguments> first = messages_.first_under_way();
  return first ? "the destruction of it, for " + describe(*first, endpoint_.transport())
               : "its destruction";
}

std::string PendingStarted::whom() const {
  const std::optional<MessageArguments> first = messages_.first_under_way();
  return first ? PendingMessage(*first, endpoint_).whom() : "";
}

WaitNote* MessageNotes::take() {
  if (notes_ == nullptr) return nullptr;
  uint32_t taken = taken_.load(std::memory_order_relaxed);
  for (;;) {
    const auto place = static_cast<uint32_t>(std::countr_one(taken));
    if (place >= kMessageNotes) return nullptr;
    if (taken_.compare_exchange_weak(taken, taken | 1u << place, std::memory_order_acquire)) {
      return &notes_->messages[place];
    }
  }
}

void MessageNotes::give_back(const WaitNote* note) {
  if (note == nullptr) return;
  const auto place = static_cast<uint32_t>(note - notes_->messages);
  taken_.fetch_and(~(1u << place), std::memory_order_release);
}

}  // namespace tutti
