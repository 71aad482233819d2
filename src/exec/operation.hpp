// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A collective call that was queued: its parts run on lanes, each when it comes to the front of its
// lane's queue. Whichever thread takes a lane first drives it, be it a worker or a thread that
// waits.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>

#include "exec/completion.hpp"
#include "exec/lane_group.hpp"
#include "exec/wait_reporter.hpp"

namespace tutti {

class Executor;

class Operation : public Completion {
 public:
  Operation(Executor& executor, Call call) : executor_(executor), call_(std::move(call)) {}

  Status start(StartedFor whom) override;
  [[nodiscard]] const Call& call() const { return call_; }

 protected:
  [[nodiscard]] HelpedProgress& progress() const override;
  Status wait_inside(int64_t timeout_ms) override;

 private:
  friend class Executor;
  friend class LaneQueue;
  // How long an operation that was started waits before shared memory says that it does.
  static constexpr int64_t kLastsAfterMs = 20;

  // A thread begins to wait for it.
  void note_waiter() {
    if (awaited_ms_.load(std::memory_order_relaxed) == kNever) awaited_ms_.store(rough_ms());
  }
  // Counts its waits from now on: they have `timeout_ms`.
  void begins(int64_t timeout_ms);
  // The length of a block.
  [[nodiscard]] uint64_t bytes() const { return call_.count * plan_->element_bytes; }

  Executor& executor_;
  Call call_;
  std::shared_ptr<const Plan> plan_;
  uint64_t sequence_ = 0;
  uint32_t chain_ = 0;  // as Lane::start() takes it
  int64_t deadline_ms_ = kNever;
  int64_t reports_ms_ = kNever;              // when its wait counts as long
  std::atomic<int64_t> awaited_ms_{kNever};  // since when a thread waits for it
  std::atomic<size_t> parts_left_{0};
  BriefLock error_lock_;
  Status first_error_;  // guarded by error_lock_
};

// The lanes of one worker and the operations that wait for them.
class LaneQueue {
 public:
  // The lanes run part `index` of each plan.
  LaneQueue(Executor& executor, size_t index, std::unique_ptr<LaneGroup> lanes,
            WaitReporter reporter)
      : executor_(executor), index_(index), lanes_(std::move(lanes)), reporter_(reporter) {}

  // `started`: the lanes run it already, and the queue is empty. False if memory is lacking.
  bool push(Operation& operation, bool started) noexcept;
  // Runs the operation at the front as far as it goes, unless another thread does. Returns whether
  // its part ended here.
  bool drive() noexcept;
  [[nodiscard]] bool empty() const { return length_.load(std::memory_order_acquire) == 0; }
  // Whether a thread drives it at this moment.
  [[nodiscard]] bool driven() const { return driven_.load(std::memory_order_relaxed); }
  // The lanes, for the thread that makes calls while the queue is empty: then no other uses them.
  [[nodiscard]] LaneGroup& lanes() { return *lanes_; }
  [[nodiscard]] WaitReporter& wait_reporter() { return reporter_; }

 private:
  bool step();
  void tick(const Operation& operation);
  bool has_ended(Operation& operation, Status& status);
  void note_jam(const Operation& operation);
  Operation* front();

  Executor& executor_;
  const size_t index_;
  const std::unique_ptr<LaneGroup> lanes_;
  WaitReporter reporter_;  // of the call that runs on them
  std::atomic<bool> driven_{false};
  std::atomic<size_t> length_{0};
  bool started_ = false;  // the front runs; the driver's own, as what follows
  // The last operation that was long.
  uint64_t long_bytes_ = 0;
  int64_t long_end_ms_ = 0;
  int64_t noted_until_ms_ = 0;  // waits for long ones, in Jam::in_ms
  BriefLock lock_;
  std::deque<Operation*> queue_;  // guarded by lock_
};

}  // namespace tutti
