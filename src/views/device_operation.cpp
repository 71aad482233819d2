// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "views/device_operation.hpp"

#include "core/log.hpp"
#include "views/view_queue.hpp"

namespace tutti {
namespace {

// The time for which a failed operation waits for what the device is about.
constexpr int64_t kGiveUpAfterMs = 2000;
// Polls per look for peers that ask for a descriptor. A look is a system call, and peers hardly
// ever ask.
constexpr uint32_t kPollsPerLook = 4;

}  // namespace

DeviceOperation::DeviceOperation(ViewQueue& queue, DeviceSide* side)
    : Completion(queue), queue_(queue), side_(side) {}

Status DeviceOperation::wait_inside(int64_t timeout_ms) { return queue_.wait(*this, timeout_ms); }
Communicator& DeviceOperation::comm() const { return queue_.comm(); }

Status DeviceOperation::begin(StartedFor whom) {
  activity_.reset();
  marker_ = nullptr;
  give_up_ms_ = kNever;
  deadline_ms_ = rough_deadline_ms(comm().executor().timeout_ms());
  if (side_ != nullptr && side_->context().native().queue != nullptr) {
    auto marked = side_->context().add_marker();
    if (!marked.ok()) {  // peers wait for this rank
      const Status failed = marked.status().with_context(what());
      comm().health().fail(failed);
      return failed;
    }
    marker_ = *std::move(marked);
  }
  {
    const std::lock_guard lock(event_mutex_);
    failure_ = {};
    ended_ = false;
    event_ = nullptr;
  }
  const bool has_callback = activate();
  task_ = carry_out();
  if (const Status begun = task_.begin(); !begun.ok()) {
    const Status failed = named(begun);
    end_at_once(failed);
    return failed;
  }
  try {
    return queue_.submit(*this, has_callback, whom);
  } catch (...) {  // it is in no queue, where it would be polled to its end
    end_at_once(caught_exception());
    throw;
  }
}

// Ends what is in no queue yet.
void DeviceOperation::end_at_once(const Status& failed) {
  task_ = {};
  const std::lock_guard lock(event_mutex_);
  failure_ = failed;
  ended_ = true;
}

Status DeviceOperation::named(const Status& error) const {
  return is_named() ? error : error.with_context(what());
}

Status DeviceOperation::after_marker(devices::DeviceEngine& engine) {
  return marker_ == nullptr ? Status() : engine.after(std::move(marker_));
}

Result<bool> DeviceOperation::has_passed_marker(const ViewQueue* patient) {
  if (marker_ == nullptr) return true;
  Result<bool> done =
      marker_->done_within(patient == nullptr ? devices::Patience() : patient->patience());
  if (done.ok() && *done) marker_ = nullptr;
  return done;
}

Result<void*> DeviceOperation::event() {
  if (side_ == nullptr) {
    return Status::format(Code::kInvalidUsage, "{}: it is on no device queue", what());
  }
  const std::lock_guard lock(event_mutex_);
  if (event_ == nullptr) {
    auto made = side_->context().make_event();
    if (!made.ok()) return made.status().with_context(what());
    event_ = *std::move(made);
    if (ended_) TUTTI_RETURN_IF_ERROR(event_->signal(failure_));
  }
  return event_->native();
}

Status DeviceOperation::why_it_cannot_go_on() const {
  if (task_.waits() == Waits::kForPeers) return {};
  if (comm().health().stopped()) return comm().health().cause_for_call().with_context(what());
  if (deadline_ms_ == kNever || rough_ms() < deadline_ms_) return {};
  return Status::format(Code::kTimeout,
                        "{}: rank {} waited {} ms for the device: what was enqueued before the "
                        "call, or its own work there, does not end",
                        what(), comm().rank(), comm().executor().timeout_ms());
}

bool DeviceOperation::run() {
  try {
    return advance();
  } catch (...) {
    if (failure_.ok()) failure_ = caught_exception();
  }
  note_failure();
  return false;
}

// Lets peers know of the first failure, and sets the time for the device to end what it is about.
void DeviceOperation::note_failure() {
  if (give_up_ms_ != kNever) return;
  give_up_ms_ = now_ms() + kGiveUpAfterMs;
  if (breaks()) try_to([&] { comm().health().fail(failure_); });
}

bool DeviceOperation::advance() {
  if (failure_.ok()) {
    const Result<bool> over = task_.poll();
    if (over.ok() && *over) {
      task_ = {};
      return true;
    }
    failure_ = over.ok() ? why_it_cannot_go_on() : named(over.status());
    if (failure_.ok()) {
      const bool waits_for_peers = task_.waits() == Waits::kForPeers;
      const bool looks = polls_++ % kPollsPerLook == 0;
      if (waits_for_peers && side_ != nullptr && looks) side_->peer_memory().serve();
      return false;
    }
  }
  note_failure();
  comm().help();
  if (!activity_.at_rest(now_ms() >= give_up_ms_)) return false;
  if (activity_.leaks() && side_ != nullptr) side_->peer_memory().leak();
  task_ = {};
  return true;
}

void DeviceOperation::end() {
  {
    const std::lock_guard lock(event_mutex_);
    ended_ = true;
    try_to([&] {
      if (event_ == nullptr) return;
      if (const Status told = event_->signal(failure_); !told.ok()) {
        log::warn("{}: its event: {}", what(), told.message());
      }
    });
  }
  complete(failure_);
}

}  // namespace tutti
