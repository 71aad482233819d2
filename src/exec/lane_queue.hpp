// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The lanes of one worker and the operations that wait for them. Whichever thread takes a queue
// first drives it, be it a worker or a thread that waits.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>

#include "core/brief_lock.hpp"
#include "exec/failed_calls.hpp"
#include "exec/lane_group.hpp"
#include "exec/wait_reporter.hpp"

namespace tutti {

class HelpedProgress;
class Operation;

class LaneQueue {
 public:
  // What the queues of an executor share; it outlives them.
  struct Shared {
    Transport& transport;
    const Health& health;
    Journal* journal;  // null: all ranks are on one host
    FailedCalls& failed_calls;
    const HelpedProgress& progress;
  };

  // The lanes run lane plan `index` of each plan. `jams` are the notes in which it says that a call
  // has held up others; null: in none.
  LaneQueue(const Shared& shared, size_t index, std::unique_ptr<LaneGroup> lanes,
            WaitReporter reporter, Notes* jams)
      : shared_(shared),
        index_(index),
        lanes_(std::move(lanes)),
        reporter_(reporter),
        jams_(jams) {}

  // `started`: the lanes run it already, and the queue is empty. False if memory is lacking.
  bool push(Operation& operation, bool started) noexcept;
  // Runs the operation at the front as far as it goes, unless another thread does. Returns whether
  // its lane plan ended here.
  bool drive() noexcept;
  [[nodiscard]] bool empty() const { return length_.load(std::memory_order_acquire) == 0; }
  // Whether a thread drives it at this moment.
  [[nodiscard]] bool driven() const { return driven_.load(std::memory_order_relaxed); }
  // The lanes, for the thread that makes calls while the queue is empty: then no other uses them.
  [[nodiscard]] LaneGroup& lanes() { return *lanes_; }
  [[nodiscard]] WaitReporter& wait_reporter() { return reporter_; }

 private:
  bool step();
  void report(const Operation& operation);
  bool run_front(Operation& operation, Status& status);
  void note_head_of_line_wait(const Operation& operation);
  Operation* front();

  const Shared& shared_;
  const size_t index_;
  const std::unique_ptr<LaneGroup> lanes_;
  WaitReporter reporter_;  // reports waits of the call that runs on the lanes
  Notes* const jams_;
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
