// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "exec/lane_queue.hpp"

#include <algorithm>

#include "exec/operation.hpp"

namespace tutti {
namespace {

// A call may hold up others from this length on, and those whose length is so many times less.
constexpr uint64_t kHoldsUpBytes = 1 << 20;
constexpr uint64_t kMuchLonger = 16;

}  // namespace

bool LaneQueue::push(Operation& operation, bool started) noexcept {
  try {
    const std::lock_guard lock(lock_);
    queue_.push_back(&operation);
    if (started) started_ = true;
  } catch (const std::bad_alloc&) {
    return false;
  }
  length_.fetch_add(1, std::memory_order_release);
  return true;
}

Operation* LaneQueue::front() {
  const std::lock_guard lock(lock_);
  return queue_.empty() ? nullptr : queue_.front();
}

bool LaneQueue::drive() noexcept {
  if (empty() || driven_.exchange(true, std::memory_order_acquire)) return false;
  const bool ended = step();
  driven_.store(false, std::memory_order_release);
  return ended;
}

// The operation has been under way for a while. No thread may be waiting for it yet.
void LaneQueue::report(const Operation& operation) {
  reporter_.report(PendingCall(*lanes_, operation.record(), shared_.transport, shared_.journal,
                               !shared_.progress.waited_for()));
}

// Notes that the operation, which starts now, has kept a thread waiting for a much longer one.
// Whoever waits for the long one first, as for the buckets of gradients in their order, loses
// nothing.
void LaneQueue::note_head_of_line_wait(const Operation& operation) {
  const int64_t awaited_ms = operation.awaited_ms();
  if (awaited_ms == kNever || jams_ == nullptr) return;
  const int64_t waited_ms = long_end_ms_ - awaited_ms;
  if (waited_ms < kRoughMs || operation.bytes() > long_bytes_ / kMuchLonger) return;
  std::optional<Jam> jam = jams_->jam.read();
  if (!jam) return;
  ++jam->calls;
  jam->ms += static_cast<uint64_t>(waited_ms);
  const int64_t since_ms = std::max(awaited_ms, noted_until_ms_);
  jam->in_ms += static_cast<uint64_t>(long_end_ms_ - since_ms);
  noted_until_ms_ = long_end_ms_;
  jam->last = operation.record();
  jams_->jam.post(*jam);
}

// Runs the front of the queue; if that has ended, `status` says how.
bool LaneQueue::run_front(Operation& operation, Status& status) {
  if (!started_) {
    lanes_->start(operation.plan(), index_, operation.call(), operation.sequence(),
                  operation.chain());
    started_ = true;
    note_head_of_line_wait(operation);
  }
  const Advance advance = lanes_->advance();
  if (advance == Advance::kDone) return true;
  const bool stopped = shared_.health.stopped();
  const int64_t now_ms = rough_ms();
  if (advance == Advance::kBlocked && !stopped && !operation.is_late(now_ms)) {
    if (operation.is_long(now_ms)) report(operation);
    return false;
  }
  status = shared_.failed_calls.give_up(*lanes_, operation.call(), operation.sequence(), advance,
                                        stopped ? WaitEnd::kStopped : WaitEnd::kDeadline);
  return true;
}

bool LaneQueue::step() {
  Operation* const operation = front();
  if (operation == nullptr) return false;
  Status status;
  try {
    if (!run_front(*operation, status)) return false;
  } catch (...) {
    status = shared_.failed_calls.broke_down(*lanes_, operation->call(), operation->sequence());
  }
  started_ = false;
  if (operation->bytes() >= kHoldsUpBytes) {
    long_bytes_ = operation->bytes();
    long_end_ms_ = rough_ms();
  }
  if (reporter_.end() && status.ok()) lanes_->note_end();
  {
    const std::lock_guard lock(lock_);
    queue_.pop_front();
  }
  length_.fetch_sub(1, std::memory_order_release);
  operation->end_lane_plan(status);
  return true;
}

}  // namespace tutti
