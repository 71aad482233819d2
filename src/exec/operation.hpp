// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A collective call that was started: its lane plans run on lanes, each when it comes to the front
// of its lane's queue (exec/lane_queue.hpp). Its life, between activate() and complete():
//
//   Executor::submit         finds its plan and numbers it; on an error it was never started
//   Executor::try_at_once    runs it, if it is short and alone; it completes if no peer is late
//   Executor::queue          else queues its lane plans, one on each lane
//   LaneQueue::drive         starts and advances the one in front, in whichever thread comes
//   end_lane_plan            is told of the end of each; the last one completes it
#pragma once

#include <atomic>
#include <memory>

#include "core/wait.hpp"
#include "exec/executor.hpp"

namespace tutti {

class Operation : public Completion {
 public:
  Operation(Executor& executor, Call call)
      : Completion(executor), executor_(executor), call_(std::move(call)) {}

  Status start(StartedFor whom) override;
  [[nodiscard]] const Call& call() const { return call_; }

  // The executor's part, in the thread that starts it: nobody else knows of it yet. `chain` is as
  // Lane::start() takes it.
  void set_plan(const std::shared_ptr<const Plan>& plan, uint64_t sequence, uint32_t chain) {
    plan_ = plan;
    sequence_ = sequence;
    chain_ = chain;
  }
  // Its lane plans are about to be queued; its waits count from now on, and have `timeout_ms`.
  void begin_lane_plans(int64_t timeout_ms);

  // What its queues run. It stays as it is until all lane plans have ended.
  [[nodiscard]] const Plan& plan() const { return *plan_; }
  [[nodiscard]] uint64_t sequence() const { return sequence_; }
  [[nodiscard]] uint32_t chain() const { return chain_; }
  [[nodiscard]] CallRecord record() const { return plan_->record_of(sequence_); }
  // The length of a block.
  [[nodiscard]] uint64_t bytes() const { return call_.count * plan_->element_bytes; }
  // Whether its time is up, and whether it has taken so long that shared memory says so.
  [[nodiscard]] bool is_late(int64_t now_ms) const { return now_ms >= deadline_ms_; }
  [[nodiscard]] bool is_long(int64_t now_ms) const { return now_ms >= long_from_ms_; }
  // A lane plan has ended, in the thread that drives its queue. With the last one the operation
  // ends, and may be gone.
  void end_lane_plan(const Status& status);

  // Notes that a thread begins to wait for it. Any thread.
  void note_waiter() {
    if (awaited_ms() == kNever) awaited_ms_.store(rough_ms());
  }
  // Since when a thread waits for it; kNever: none does.
  [[nodiscard]] int64_t awaited_ms() const { return awaited_ms_.load(std::memory_order_relaxed); }

 protected:
  Status wait_inside(int64_t timeout_ms) override;

 private:
  Executor& executor_;
  const Call call_;
  // Written before it is queued.
  std::shared_ptr<const Plan> plan_;
  uint64_t sequence_ = 0;
  uint32_t chain_ = 0;
  int64_t deadline_ms_ = kNever;
  int64_t long_from_ms_ = kNever;
  // The state of all lane plans together.
  std::atomic<size_t> lanes_left_{0};
  std::atomic<int64_t> awaited_ms_{kNever};
  BriefLock error_lock_;
  Status first_error_;  // guarded by error_lock_
};

}  // namespace tutti
