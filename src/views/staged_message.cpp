// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "views/staged_message.hpp"

#include <algorithm>

#include "views/pieces.hpp"
#include "views/view_queue.hpp"

namespace tutti {

using devices::MemoryKind;

std::string StagedMessage::what() const {
  const std::string where = stage_ == nullptr ? "the communicator" : stage_->context().name();
  return fmt::format("{} of {} {} on {}", arguments_.sends ? "send" : "recv", arguments_.count,
                     type_name(arguments_.type), where);
}

Status StagedMessage::start(StartedFor whom) {
  on_device_ = false;
  if (stage_ != nullptr) {
    const auto found = stage_->find(arguments_.sends ? "send" : "recv", arguments_.buffer, nullptr);
    if (!found.ok()) return found.status();
    on_device_ = found->on_device;
    place_ = found->send;
  }
  message_.reset();
  shown_.reset();
  reads_.reset();
  wanted_.clear();
  pieces_.reset();
  told_ = false;
  work_ = {};
  copies_ = false;
  copies_out_ = false;
  shows_ = may_be_shown();
  const Result<bool> has_callback = begin();
  if (!has_callback.ok()) return has_callback.status();
  if (Status prepared = prepare(); !prepared.ok()) {
    complete_at_once(prepared);
    return prepared;
  }
  return queue_.submit(*this, ViewQueue::List::kMessages, *has_callback, whom);
}

bool StagedMessage::is_memory_of_device() const {
  return on_device_ && stage_->is_of_device(place_) && stage_->context().facts().ipc &&
         comm().transport().shared_memory() != nullptr;
}

// What can be read if it is longer than what is complete at the sender before it is received; else
// what takes several pieces.
bool StagedMessage::may_be_shown() const {
  if (!arguments_.sends || !on_device_ || arguments_.peer == comm().rank()) return false;
  return bytes() > (is_memory_of_device() ? comm().messages().eager_bytes() : kPieceBytes);
}

Status StagedMessage::prepare() {
  if (!on_device_ || shows_) return {};
  Result<Stage::Memory> taken = stage_->take(bytes());
  if (!taken.ok()) return taken.status().with_context(what());
  memory_ = *std::move(taken);
  // The peer may wait for a receive, which needs nothing of the device yet.
  return arguments_.sends ? Status() : post(arguments_);
}

Status StagedMessage::post(const MessageArguments& arguments) {
  MessageArguments posted = arguments;
  if (on_device_) posted.buffer = memory_.data();
  message_.emplace(comm().messages(), posted);
  const bool met_already = reads_.has_value();
  if (!posted.sends && on_device_ && !met_already) message_->meet_announced();
  const Status begun = message_->start(StartedFor::kCaller);
  if (!begun.ok()) message_.reset();
  return begun;
}

Status StagedMessage::copy(devices::DeviceEngine& engine, void* dst, const void* source,
                           uint64_t bytes) {
  copies_ = true;
  work_.begin(engine);
  TUTTI_RETURN_IF_ERROR(after_mark(engine));
  TUTTI_RETURN_IF_ERROR(engine.copy(dst, source, bytes));
  return work_.submit();
}

Result<bool> StagedMessage::copied() {
  Result<bool> done = work_.done();
  if (!done.ok()) return done.status().with_context(what());
  return done;
}

Result<Staged::Waits> StagedMessage::push() {
  return arguments_.sends ? push_send() : push_receive();
}

// ---- a send ------------------------------------------------------------------------------------

// To where it can be sent from.
StagedMessage::Step StagedMessage::copy_in() {
  if (!copies_) {
    if (on_device_ && memory_.data() == nullptr) {
      Result<Stage::Memory> taken = stage_->take(bytes());
      if (!taken.ok()) return taken.status().with_context(what());
      memory_ = *std::move(taken);
    }
    const Status begun =
        copy(stage_->in(), memory_.data(), arguments_.buffer, on_device_ ? bytes() : 0);
    if (!begun.ok()) return begun.with_context(what());
  }
  const Result<bool> done = copied();
  if (!done.ok()) return done.status();
  return *done ? std::optional<Waits>() : std::optional(Waits::kForDevice);
}

Result<Staged::Waits> StagedMessage::push_send() {
  if (shows_) {
    Step step = show();
    if (!step.ok()) return step.status();
    if (*step) return **step;
  }
  if (!message_) {
    if (stage_ != nullptr) {
      Step step = copy_in();
      if (!step.ok()) return step.status();
      if (*step) return **step;
    }
    MessageArguments arguments = arguments_;
    if (shown_) {
      arguments.tag = shown_->tag_of_bytes();
    } else if (!may_send_) {
      return Waits::kForPeers;
    }
    TUTTI_RETURN_IF_ERROR(post(arguments));
  }
  comm().messages().help();
  if (!message_->done()) return Waits::kForPeers;
  if (!message_->status().ok()) return message_->status();
  memory_.reset();
  return Waits::kForNothing;
}

// ---- a receive ---------------------------------------------------------------------------------

Result<Staged::Waits> StagedMessage::push_receive() {
  if (!message_ && stage_ != nullptr) {  // into memory of the host, after the mark
    Step step = copy_in();
    if (!step.ok()) return step.status();
    if (*step) return **step;
  }
  if (!message_) TUTTI_RETURN_IF_ERROR(post(arguments_));
  comm().messages().help();
  if (copies_out_) {
    const Result<bool> done = copied();
    if (!done.ok()) return done.status();
    if (!*done) return Waits::kForDevice;
    if (reads_ && !reads_->at_rest()) return Waits::kForPeers;
    memory_.reset();
    return Waits::kForNothing;
  }
  if (!message_->done()) return Waits::kForPeers;
  if (!message_->status().ok()) return message_->status();
  if (!reads_) {
    info_ = message_->received();
    if (const Transfer* const met = message_->announcement()) {
      reads_.emplace(comm().messages(), *met);
      TUTTI_RETURN_IF_ERROR(reads_->start());
    }
  } else if (message_->announcement() == nullptr) {
    info_.count = message_->received().count;
  }
  if (message_->announcement() != nullptr) return read_shown();
  if (!on_device_) return Waits::kForNothing;
  copies_out_ = true;
  const Status begun = copy(stage_->out(), arguments_.buffer, memory_.data(),
                            info_.count * type_size(arguments_.type));
  if (!begun.ok()) return begun.with_context(what());
  return Waits::kForDevice;
}

// ---- the end -----------------------------------------------------------------------------------

bool StagedMessage::wind_up(bool late) {
  comm().messages().help();
  if (message_ && !message_->done()) return false;
  if (pieces_ && !pieces_->wind_up(late)) return false;
  if ((shown_ && !shown_->at_rest()) || (reads_ && !reads_->at_rest())) return false;
  const DeviceWork::Rest rest = work_.wind_up(late);
  if (rest == DeviceWork::Rest::kNotYet) return false;
  if (rest == DeviceWork::Rest::kLeft) {
    memory_.leave();
    if (reading_) stage_->peers().leave();
  }
  end_reading();
  memory_.reset();
  return true;
}

}  // namespace tutti
