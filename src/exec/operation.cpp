// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The queue of one lane's operations, and how an operation starts and ends there.
#include "exec/operation.hpp"

#include <algorithm>

#include "exec/executor.hpp"

namespace tutti {
namespace {

// A call may hold up others from this length on, and those whose length is so many times less.
constexpr uint64_t kHoldsUpBytes = 1 << 20;
constexpr uint64_t kMuchLonger = 16;

}  // namespace

Status Operation::start(StartedFor whom) { return executor_.submit(*this, whom); }
Status Operation::wait_inside(int64_t timeout_ms) { return executor_.wait(*this, timeout_ms); }
HelpedProgress& Operation::progress() const { return executor_; }

void Operation::begins(int64_t timeout_ms) {
  const int64_t now_ms = rough_ms();
  deadline_ms_ = rough_deadline_ms(timeout_ms, now_ms);
  reports_ms_ = rough_deadline_ms(kLastsAfterMs, now_ms);
  awaited_ms_.store(kNever, std::memory_order_relaxed);
}

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
void LaneQueue::tick(const Operation& operation) {
  reporter_.tick(PendingCall(*lanes_, operation.plan_->record_of(operation.sequence_),
                             executor_.transport_, executor_.journal_.get(),
                             !executor_.waited_for()));
}

// Notes that the operation, which starts now, has kept a thread waiting for a much longer one.
// Whoever waits for the long one first, as for the buckets of gradients in their order, loses
// nothing.
void LaneQueue::note_jam(const Operation& operation) {
  const int64_t awaited_ms = operation.awaited_ms_.load(std::memory_order_relaxed);
  if (awaited_ms == kNever) return;
  const int64_t waited_ms = long_end_ms_ - awaited_ms;
  if (waited_ms < kRoughMs || operation.bytes() > long_bytes_ / kMuchLonger || index_ != 0) return;
  Notes* const notes = executor_.transport_.notes(executor_.rank_, 0);
  std::optional<Jam> jam = notes == nullptr ? std::nullopt : notes->jam.read();
  if (!jam) return;
  ++jam->calls;
  jam->ms += static_cast<uint64_t>(waited_ms);
  const int64_t since_ms = std::max(awaited_ms, noted_until_ms_);
  jam->in_ms += static_cast<uint64_t>(long_end_ms_ - since_ms);
  noted_until_ms_ = long_end_ms_;
  jam->last = operation.plan_->record_of(operation.sequence_);
  notes->jam.post(*jam);
}

// Runs the front of the queue; if that has ended, `status` says how.
bool LaneQueue::has_ended(Operation& operation, Status& status) {
  if (!started_) {
    lanes_->start(*operation.plan_, index_, operation.call_, operation.sequence_, operation.chain_);
    started_ = true;
    note_jam(operation);
  }
  const Advance advance = lanes_->advance();
  if (advance == Advance::kDone) return true;
  const bool stopped = executor_.health_.stopped();
  const int64_t now_ms = rough_ms();
  if (advance == Advance::kBlocked && !stopped && now_ms < operation.deadline_ms_) {
    if (now_ms >= operation.reports_ms_) tick(operation);
    return false;
  }
  status = executor_.give_up(*lanes_, operation.call_, operation.sequence_, advance,
                             stopped ? WaitEnd::kStopped : WaitEnd::kDeadline);
  return true;
}

bool LaneQueue::step() {
  Operation* const operation = front();
  if (operation == nullptr) return false;
  Status status;
  try {
    if (!has_ended(*operation, status)) return false;
  } catch (...) {
    status = executor_.broke_down(*lanes_, operation->call_, operation->sequence_);
  }
  started_ = false;
  if (operation->bytes() >= kHoldsUpBytes) {
    long_bytes_ = operation->bytes();
    long_end_ms_ = rough_ms();
  }
  if (reporter_.ends() && status.ok()) lanes_->note_end();
  {
    const std::lock_guard lock(lock_);
    queue_.pop_front();
  }
  length_.fetch_sub(1, std::memory_order_release);
  executor_.part_ended(*operation, status);
  return true;
}

}  // namespace tutti
