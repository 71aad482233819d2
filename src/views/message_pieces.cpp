// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "views/message_pieces.hpp"

#include <algorithm>

#include "views/pieces.hpp"

namespace tutti {
namespace {

// One each that is copied and that is on its way, and one in reserve.
constexpr size_t kSlots = 3;

}  // namespace

MessagePieces::MessagePieces(Messages& messages, Stage& stage, devices::DeviceEngine& engine,
                             const MessageArguments& each, std::byte* buffer, uint64_t bytes)
    : messages_(messages),
      stage_(stage),
      engine_(engine),
      each_(each),
      buffer_(buffer),
      bytes_(bytes) {}

Status MessagePieces::copy(Slot& slot) {
  std::byte* const here = buffer_ + slot.offset;
  std::byte* const there = slot.memory.data();
  slot.copies = true;
  slot.work.begin(engine_);
  TUTTI_RETURN_IF_ERROR(each_.sends ? engine_.copy(there, here, slot.bytes)
                                    : engine_.copy(here, there, slot.bytes));
  return slot.work.submit();
}

Status MessagePieces::post(Slot& slot) {
  MessageArguments arguments = each_;
  arguments.type = DataType::kUint8;
  arguments.buffer = slot.memory.data();
  arguments.count = slot.bytes;
  slot.message.emplace(messages_, arguments);
  Status begun = slot.message->start(StartedFor::kCaller);
  if (!begun.ok()) slot.message.reset();
  return begun;
}

Status MessagePieces::begin_slot() {
  Slot& slot = slots_.emplace_back();
  slot.offset = next_;
  slot.bytes = std::min(kPieceBytes, bytes_ - next_);
  Result<Stage::Memory> taken = stage_.take(slot.bytes);
  if (!taken.ok()) return taken.status();
  slot.memory = *std::move(taken);
  next_ += slot.bytes;
  return each_.sends ? copy(slot) : post(slot);
}

Result<bool> MessagePieces::advance_sent(Slot& slot) {
  if (!slot.message) {
    Result<bool> copied = slot.work.done();
    if (!copied.ok()) return copied;
    if (!*copied || !may_post_) {
      state_ = State::kForDevice;
      may_post_ = false;
      return false;
    }
    TUTTI_RETURN_IF_ERROR(post(slot));
  }
  state_ = State::kForPeer;
  if (!slot.message->done()) return false;
  if (!slot.message->status().ok()) return slot.message->status();
  return true;
}

Result<bool> MessagePieces::advance_received(Slot& slot) {
  if (!slot.copies) {
    state_ = State::kForPeer;
    if (!slot.message->done()) return false;
    if (!slot.message->status().ok()) return slot.message->status();
    TUTTI_RETURN_IF_ERROR(copy(slot));
  }
  state_ = State::kForDevice;
  return slot.work.done();
}

Result<bool> MessagePieces::advance(Slot& slot) {
  return each_.sends ? advance_sent(slot) : advance_received(slot);
}

Result<MessagePieces::State> MessagePieces::push() {
  for (;;) {
    while (next_ < bytes_ && slots_.size() < kSlots) TUTTI_RETURN_IF_ERROR(begin_slot());
    if (slots_.empty()) return State::kDone;
    messages_.help();
    may_post_ = true;
    State front = State::kForPeer;
    bool front_over = false;
    for (Slot& slot : slots_) {
      const Result<bool> over = advance(slot);
      if (!over.ok()) return over.status();
      if (&slot != &slots_.front()) continue;
      front = state_;
      front_over = *over;
    }
    if (!front_over) return front;
    slots_.pop_front();
  }
}

bool MessagePieces::wind_up(bool late) {
  for (Slot& slot : slots_) {
    if (slot.message && !slot.message->done()) return false;
    if (!slot.work.wind_up(late, slot.memory)) return false;
  }
  slots_.clear();
  return true;
}

}  // namespace tutti
