// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Runs a communicator's collective calls. A blocking call of one lane on an idle communicator runs
// in the caller's thread from beginning to end. Others, also blocking ones of several lanes, are
// queued to lanes, which workers and waiting threads drive.
#pragma once

#include <memory>
#include <vector>

#include "exec/executor_settings.hpp"
#include "exec/failed_calls.hpp"
#include "exec/health.hpp"
#include "exec/helped_progress.hpp"
#include "exec/journal.hpp"
#include "exec/lane_queue.hpp"
#include "exec/plan_cache.hpp"

namespace tutti {

class Operation;

class Executor : public HelpedProgress {
 public:
  // All references outlive it.
  Executor(const ExecutorSettings& settings, std::vector<std::unique_ptr<LaneGroup>> lanes,
           Choose choose, Transport& transport, Health& health, WorkerPool& workers);
  ~Executor() override;

  // Runs a call to its end. Calls come from one thread at a time.
  Status run(const Call& call);
  // Queues an operation, which must stay in place until done.
  Status submit(Operation& operation, StartedFor whom);
  // Waits for a queued operation, helping it along; any thread. Gives kTimeout without breaking
  // anything after timeout_ms.
  Status wait(Operation& operation, int64_t timeout_ms);
  void help() override;
  // Waits until nothing is queued.
  Status drain();

  void set_timeout(int64_t timeout_ms) { timeout_ms_.store(timeout_ms); }
  [[nodiscard]] int64_t timeout_ms() const { return timeout_ms_.load(std::memory_order_relaxed); }
  // Tells the peers that no further calls come.
  void leave();
  // Comes after leave(): an error if the last calls turn out not to match those of the peers. Waits
  // a moment for peers to make them, if the last call has not shown already whether all match.
  Status compare_last_calls();
  // Takes a message of another rank's journal (ExecutorSettings::tell); the monitor's thread.
  void heard(int peer, std::span<const std::byte> message);
  // Whether a call here has returned an error.
  [[nodiscard]] bool has_failed() const { return failed_calls_.any(); }
  [[nodiscard]] const ExecutorSettings& settings() const { return settings_; }
  // The inputs of all plans.
  [[nodiscard]] const PlanContext& plan_context() const { return plans_.context(); }
  [[nodiscard]] Transport& transport() const { return transport_; }
  [[nodiscard]] Health& health() const { return health_; }
  // The number of calls so far. For the thread that makes them.
  [[nodiscard]] uint64_t calls() const { return sequence_; }

  bool drive(int worker) override;
  [[nodiscard]] Waiter waiter() const override;

 private:
  // Calls in the caller's thread (executor.cpp).
  bool number_call(const Call& call, const Plan& plan, uint32_t& chain);
  Status prepare(Operation& operation);
  Status run_here(const Call& call, const Plan& plan);
  bool enter_journal(const Plan& plan, uint32_t& chain);
  [[nodiscard]] RecordLine* noted_call(uint64_t sequence);
  template <typename Ready>
  WaitEnd wait_here(const Plan& plan, const Ready& ready);
  Status refuse(const Call& call);

  // Calls that are queued (executor_queue.cpp).
  Status run_queued(const Call& call);
  void queue(Operation& operation, bool started);
  bool try_at_once(Operation& operation);
  [[nodiscard]] bool has_work(int worker) const override;
  [[nodiscard]] bool held() const override { return queues_.front()->driven(); }
  void cannot_start_worker(const Status& why) override;

  const ExecutorSettings settings_;
  const int rank_;
  const int ranks_;
  Transport& transport_;
  Health& health_;
  const std::unique_ptr<Journal> journal_;  // if ranks are on several hosts
  std::atomic<int64_t> timeout_ms_{kNever};
  FailedCalls failed_calls_;
  const LaneQueue::Shared shared_;
  std::vector<std::unique_ptr<LaneQueue>> queues_;

  // Used by the thread that makes calls alone.
  uint64_t sequence_ = 0;
  PlanCache plans_;
};

}  // namespace tutti
