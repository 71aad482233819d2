// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The worker threads of a process: CCL_WORKER_COUNT of them, pinned, shared by all communicators.
// Worker w drives lane w of whatever has something to do there, and sleeps when nothing has.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/wait.hpp"

namespace tutti {

// Something that worker threads can push forward.
class Driven {
 public:
  virtual ~Driven() = default;
  // Does what can be done now for `worker`; returns whether anything was.
  virtual bool drive(int worker) = 0;
  // Whether there is nothing left to do for it.
  [[nodiscard]] virtual bool idle(int worker) const = 0;
  // How to wait for more to be possible.
  [[nodiscard]] virtual Waiter waiter() const = 0;
};

class Worker {
 public:
  // core -1: not bound.
  Worker(int index, int core);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // There is something to do for this worker in `driven`. Any thread.
  void wake(Driven& driven);
  // Returns once the worker no longer touches `driven`, which must be idle.
  void forget(Driven& driven);

 private:
  void run();
  void take_inbox();
  void wait_for_work();
  void signal();

  const int index_;
  const int core_;
  Bell bell_{};
  std::mutex mutex_;
  std::vector<Driven*> inbox_;       // guarded by mutex_
  std::vector<Driven*> to_forget_;   // guarded by mutex_
  std::atomic<uint64_t> posted_{0};  // changes of the inbox
  std::atomic<uint64_t> taken_{0};   // of them, those seen by the thread
  std::atomic<Bell*> waits_on_{nullptr};
  std::atomic<bool> stopping_{false};
  std::vector<Driven*> active_;  // the thread's own
  std::thread thread_;           // last: it uses all of the above
};

class WorkerPool {
 public:
  // One worker per entry; cores as for Worker. Threads start at the first wake().
  explicit WorkerPool(std::vector<int> cores);

  [[nodiscard]] int size() const { return static_cast<int>(cores_.size()); }
  [[nodiscard]] bool started() const;
  void wake(int worker, Driven& driven);
  void forget(Driven& driven);

 private:
  const std::vector<int> cores_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> workers_;  // guarded by mutex_; null: not started
};

}  // namespace tutti
