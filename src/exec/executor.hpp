// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Runs a communicator's collective calls. A blocking call on an idle communicator runs in the
// caller's thread from beginning to end. Others are queued to lanes, which workers and waiting
// threads drive.
#pragma once

#include <memory>
#include <vector>

#include "exec/health.hpp"
#include "exec/helped_progress.hpp"
#include "exec/journal.hpp"
#include "exec/operation.hpp"
#include "exec/plan_cache.hpp"

namespace tutti {

struct ExecutorSettings {
  PlanContext context;       // but the number of lanes and the choice, which the constructor takes
  bool polls = false;        // see Waiter
  Journal::Tell tell;        // sends a note to any rank, if ranks are on several hosts
  SpinBudget caller_budget;  // of a thread inside a call
  SpinBudget worker_budget;  // of a worker, which may share its core with the application
  WaitReportSettings wait_report = {};
};

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
  // Takes a note of another rank (ExecutorSettings::tell); the monitor's thread.
  void heard(int peer, std::span<const std::byte> note);
  // Whether a call here has returned an error.
  [[nodiscard]] bool has_failed() const { return failed_.load(); }
  [[nodiscard]] WorkerPool& workers() { return workers_; }

  bool drive(int worker) override;
  [[nodiscard]] Waiter waiter() const override;

 private:
  friend class LaneQueue;
  Status run_here(const Call& call, const Plan& plan);
  bool enter_journal(const Plan& plan, uint32_t& chain);
  [[nodiscard]] RecordLine* noted_call(uint64_t sequence);
  template <typename Ready>
  WaitEnd wait_here(const Plan& plan, const Ready& ready);
  Status run_queued(const Call& call);
  [[nodiscard]] Status why_failed(LaneGroup& lanes);
  void find_out_what_differs(const LaneGroup& lanes, uint64_t sequence);
  [[nodiscard]] std::string who_is_late(LaneGroup& lanes, uint64_t sequence);
  [[nodiscard]] std::string name_of(int rank) const;
  [[nodiscard]] Waiter waiter_for(int64_t timeout_ms) const;
  // How a call that did not succeed ends: breaks the communicator and words the error.
  Status give_up(LaneGroup& lanes, const Call& call, uint64_t sequence, Advance advance,
                 WaitEnd end);
  // The end of a call by the exception that is being handled, perhaps before it reached the lanes.
  Status broke_down(const Call& call, uint64_t sequence) noexcept;
  Status broke_down(LaneGroup& lanes, const Call& call, uint64_t sequence) noexcept;
  bool number_call(const Call& call, const Plan& plan, uint32_t& chain);
  Status prepare(Operation& operation);
  void queue(Operation& operation, bool begun);
  // The end of a call that the failed communicator does not begin. It is noted, for who looks from
  // outside, if it is the first that the failure ends: ranks may have failed because their calls
  // differ from it.
  Status refuse(const Call& call);
  // The cause, with the call that it ends before it.
  Status why_stopped(const Call& call, uint64_t sequence);
  bool ends_at_once(Operation& operation);
  [[nodiscard]] bool has_work(int worker) const override;
  [[nodiscard]] bool held() const override { return queues_.front()->driven(); }
  void cannot_start_worker(const Status& why) override;
  void part_ended(Operation& operation, const Status& status);
  [[nodiscard]] Waiter waiter_with(const SpinBudget& budget) const;

  const ExecutorSettings settings_;
  const int rank_;
  const int ranks_;
  Transport& transport_;
  Health& health_;
  std::unique_ptr<Journal> journal_;  // if ranks are on several hosts
  std::vector<std::unique_ptr<LaneQueue>> queues_;
  std::atomic<int64_t> timeout_ms_{kNever};
  std::atomic<bool> failed_{false};

  // Used by the thread that makes calls alone.
  uint64_t sequence_ = 0;
  PlanCache plans_;
};

}  // namespace tutti
