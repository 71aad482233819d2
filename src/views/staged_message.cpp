// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "views/staged_message.hpp"

#include "views/view_queue.hpp"

namespace tutti {

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
  }
  message_.reset();
  engine_ = nullptr;
  submission_ = 0;
  copies_out_ = false;
  const Result<bool> listened_to = begin();
  if (!listened_to.ok()) return listened_to.status();
  if (Status prepared = prepare(); !prepared.ok()) {
    complete_at_once(prepared);
    return prepared;
  }
  return queue_.submit(*this, ViewQueue::List::kMessages, *listened_to, whom);
}

Status StagedMessage::prepare() {
  if (!on_device_) return {};
  Result<Stage::Memory> taken = stage_->take(arguments_.count * type_size(arguments_.type));
  if (!taken.ok()) return taken.status().with_context(what());
  memory_ = *std::move(taken);
  // The peer may wait for a receive, which needs nothing of the device yet.
  return arguments_.sends ? Status() : post();
}

Status StagedMessage::post() {
  MessageArguments arguments = arguments_;
  if (on_device_) arguments.buffer = memory_.data();
  message_.emplace(comm().messages(), arguments);
  const Status begun = message_->start(StartedFor::kCaller);
  if (!begun.ok()) message_.reset();
  return begun;
}

Status StagedMessage::copy_out() {
  copies_out_ = true;
  const uint64_t bytes = message_->received().count * type_size(arguments_.type);
  TUTTI_RETURN_IF_ERROR(after_mark(stage_->out()));
  TUTTI_RETURN_IF_ERROR(stage_->out().copy(arguments_.buffer, memory_.data(), bytes));
  Result<uint64_t> submission = stage_->out().submit();
  if (!submission.ok()) return submission.status();
  engine_ = &stage_->out();
  submission_ = *submission;
  return {};
}

Result<Staged::Waits> StagedMessage::push() {
  const bool posts_later = arguments_.sends || !on_device_;
  if (posts_later && engine_ == nullptr && !message_ && stage_ != nullptr) {
    devices::DeviceEngine& in = stage_->in();
    Status begun = after_mark(in);
    if (begun.ok() && on_device_) {
      begun =
          in.copy(memory_.data(), arguments_.buffer, arguments_.count * type_size(arguments_.type));
    }
    Result<uint64_t> submission = begun.ok() ? in.submit() : Result<uint64_t>(begun);
    if (!submission.ok()) return submission.status().with_context(what());
    engine_ = &in;
    submission_ = *submission;
  }
  if (submission_ != 0) {
    const Result<bool> done = engine_->done(submission_);
    if (!done.ok()) return done.status().with_context(what());
    if (!*done) return Waits::kForDevice;
  }
  if (copies_out_) {
    memory_.reset();
    return Waits::kForNothing;
  }
  if (!message_) {
    if (arguments_.sends && !may_send_) return Waits::kForPeers;
    if (Status begun = post(); !begun.ok()) return begun;
  }
  comm().messages().help();
  if (!message_->done()) return Waits::kForPeers;
  if (!message_->status().ok()) return message_->status();
  if (!arguments_.sends && on_device_) {
    if (Status begun = copy_out(); !begun.ok()) return begun.with_context(what());
    return Waits::kForDevice;
  }
  memory_.reset();
  return Waits::kForNothing;
}

bool StagedMessage::wind_up(bool late) {
  comm().messages().help();
  if (message_ && !message_->done()) return false;
  if (submission_ != 0) {
    const Result<bool> done = engine_->done(submission_);
    if (done.ok() && !*done && !late) return false;
    if (!done.ok() || !*done) memory_.leave();
  }
  memory_.reset();
  return true;
}

}  // namespace tutti
