// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "views/staged.hpp"

#include "core/log.hpp"
#include "views/view_queue.hpp"

namespace tutti {
namespace {

// How long what has failed waits for copies that the device is about.
constexpr int64_t kWindUpMs = 2000;

}  // namespace

Status Staged::wait_inside(int64_t timeout_ms) { return queue_.wait(*this, timeout_ms); }
HelpedProgress& Staged::progress() const { return queue_; }
Communicator& Staged::comm() const { return queue_.comm(); }

Result<bool> Staged::begin() {
  mark_ = nullptr;
  failure_ = {};
  give_up_ms_ = kNever;
  deadline_ms_ = rough_deadline_ms(comm().executor().timeout_ms());
  if (stage_ != nullptr && stage_->context().native().queue != nullptr) {
    auto marked = stage_->context().mark();
    if (!marked.ok()) {  // peers wait for this rank
      const Status failed = marked.status().with_context(what());
      comm().health().fail(failed);
      return failed;
    }
    mark_ = *std::move(marked);
  }
  const std::lock_guard lock(event_mutex_);
  ended_ = false;
  event_ = nullptr;
  return reset();
}

Status Staged::after_mark(devices::DeviceEngine& engine) {
  return mark_ == nullptr ? Status() : engine.after(std::move(mark_));
}

Result<bool> Staged::marked(uint32_t microseconds) {
  if (mark_ == nullptr) return true;
  Result<bool> done = mark_->done_within(microseconds);
  if (done.ok() && *done) mark_ = nullptr;
  return done;
}

Result<void*> Staged::event() {
  if (stage_ == nullptr) {
    return Status::format(Code::kInvalidUsage, "{}: it is on no device queue", what());
  }
  const std::lock_guard lock(event_mutex_);
  if (event_ == nullptr) {
    auto made = stage_->context().make_event();
    if (!made.ok()) return made.status().with_context(what());
    event_ = *std::move(made);
    if (ended_) TUTTI_RETURN_IF_ERROR(event_->signal(status()));
  }
  return event_->native();
}

Status Staged::late() const {
  return Status::format(Code::kTimeout,
                        "{}: rank {} waited {} ms for the device: what was enqueued before the "
                        "call, or its own work there, does not end",
                        what(), comm().rank(), comm().executor().timeout_ms());
}

// Whether it has ended.
bool Staged::run() {
  if (failure_.ok()) {
    Result<Waits> waits = push();
    if (waits.ok() && *waits == Waits::kForNothing) return true;
    if (!waits.ok()) {
      failure_ = waits.status();
    } else if (*waits == Waits::kForDevice && comm().health().stopped()) {
      failure_ = comm().health().cause().with_context(what());
    } else if (*waits == Waits::kForDevice && deadline_ms_ != kNever &&
               rough_ms() >= deadline_ms_) {
      failure_ = late();
    } else {
      return false;
    }
    if (breaks()) comm().health().fail(failure_);
    give_up_ms_ = now_ms() + kWindUpMs;
  }
  return wind_up(now_ms() >= give_up_ms_);
}

// As complete().
bool Staged::end() {
  {
    const std::lock_guard lock(event_mutex_);
    ended_ = true;
    if (event_ != nullptr) {
      if (const Status told = event_->signal(failure_); !told.ok()) {
        log::warn("{}: its event: {}", what(), told.message());
      }
    }
  }
  return complete(failure_);
}

}  // namespace tutti
