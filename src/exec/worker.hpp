// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The worker threads of a process: CCL_WORKER_COUNT of them, pinned, shared by all communicators.
// Worker w drives lane w of every communicator that has work there for which no thread waits; it
// sleeps when there is none. Starting threads wake it, except one that is likely to come back soon
// (adapt/return_predictor.hpp). Work for which it was woken once is looked at now and then by
// itself.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "adapt/return_predictor.hpp"
#include "core/status.hpp"
#include "core/wait.hpp"

namespace tutti {

// Something that worker threads can push forward.
class Driven {
 public:
  virtual ~Driven() = default;
  // Does what can be done now for `worker`; returns whether anything was.
  virtual bool drive(int worker) = 0;
  // Whether there is work left for that worker which no thread that waits is doing.
  [[nodiscard]] virtual bool needs(int worker) const = 0;
  // Predicts when the application comes back to do the work of the first worker.
  [[nodiscard]] ReturnPredictor& predictor() { return predictor_; }
  // How to wait until there is more to do.
  [[nodiscard]] virtual Waiter waiter() const = 0;

 private:
  ReturnPredictor predictor_;
};

class Worker {
 public:
  // core -1: not bound. `busy` counts the workers that have something to do.
  Worker(int index, int core, std::atomic<int>& busy) : index_(index), core_(core), busy_(busy) {}
  // Starts the thread; called once, before anything else.
  Status start();
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // There is something to do for this worker in `driven`. Any thread.
  void wake(Driven& driven);
  // Returns once the worker no longer touches `driven`, which must be idle.
  void forget(Driven& driven);

 private:
  void run();
  bool turn();
  void take_inbox();
  [[nodiscard]] Driven* first_in_need() const;
  void work(const Driven& first);
  void sleep();
  bool nap_and_ask_if_left(Driven& driven);
  [[nodiscard]] bool has_signal() const { return posted_.load() != taken_.load(); }
  void signal();

  const int index_;
  const int core_;
  Bell bell_{};
  std::mutex mutex_;
  std::vector<Driven*> inbox_;       // guarded by mutex_
  std::vector<Driven*> to_forget_;   // guarded by mutex_
  std::atomic<uint64_t> posted_{0};  // changes of the inbox
  std::atomic<uint64_t> taken_{0};   // changes of the inbox that the thread has seen
  std::atomic<Bell*> waits_on_{nullptr};
  std::atomic<bool> stopping_{false};
  std::atomic<int>& busy_;
  std::vector<Driven*> known_;  // the thread's own: what it was ever woken for
  std::thread thread_;          // last: it uses all of the above
};

class WorkerPool {
 public:
  // One worker per entry; cores as for Worker. Threads start at the first wake().
  explicit WorkerPool(std::vector<int> cores);

  [[nodiscard]] int size() const { return static_cast<int>(cores_.size()); }
  [[nodiscard]] bool started() const;
  // Whether any worker has something to do, and may want the core of a thread that waits.
  [[nodiscard]] bool busy() const { return busy_.load(std::memory_order_relaxed) > 0; }
  // There is something to do for a worker in `driven`, now. An error if it cannot be started.
  Status wake(int worker, Driven& driven) noexcept;
  void forget(Driven& driven);

 private:
  Result<Worker*> worker_of(size_t worker);

  const std::vector<int> cores_;
  mutable std::mutex mutex_;
  std::atomic<int> busy_{0};
  std::vector<std::unique_ptr<Worker>> workers_;  // guarded by mutex_; null: not started
};

}  // namespace tutti
