// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How something that was started ends: the common part of collective operations and messages, and
// what a tutti_request_t refers to.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "core/brief_lock.hpp"
#include "core/caught.hpp"
#include "core/status.hpp"

namespace tutti {

// For whom an operation is started: for the workers to finish, or for the thread that starts it,
// which will wait until it is done (workers then drive the lanes beyond the first only).
enum class StartedFor { kWorkers, kCaller };

class Completion {
 public:
  virtual ~Completion() = default;

  // Begins an activation; it must not be active.
  virtual Status start(StartedFor whom) = 0;
  // Instead of start(): the activation ends with this error before it has begun.
  void fail(Status status) {
    reset();
    complete_at_once(std::move(status));
  }
  // Waits for the end of the activation, helping it along; kTimeout after timeout_ms (kNever: no
  // limit but the communicator's) leaves it active. Any thread. Once done, it asks nobody else: the
  // communicator may be gone.
  virtual Status wait(int64_t timeout_ms) = 0;
  // Does what can be done now. Any thread.
  virtual void help() = 0;

  [[nodiscard]] bool done() const { return done_.load(std::memory_order_acquire); }
  // Once done.
  [[nodiscard]] const Status& status() const { return status_; }

  // Whether this thread is in the completion function of this.
  [[nodiscard]] bool in_its_function() const {
    return function_.load(std::memory_order_relaxed) != nullptr && is_inside();
  }

  // Calls function when it completes, or now if it has; null: none any more.
  void on_complete(tutti_completion_fn function, void* context) {
    std::unique_lock lock(lock_);
    function_.store(function, std::memory_order_relaxed);
    context_ = context;
    const bool finished = finished_;
    lock.unlock();
    if (function == nullptr) return;
    if (finished) {
      call(function, context);
    } else {
      wake_workers();
    }
  }

 protected:
  // Once per activation. After it returns, the object may be gone.
  void complete(Status status) {
    std::unique_lock lock(lock_);
    status_ = std::move(status);
    finished_ = true;
    const auto function = function_.load(std::memory_order_relaxed);
    void* const context = context_;
    lock.unlock();
    call_at_end(function, context);
    done_.store(true, std::memory_order_release);
  }
  // The same without a lock: by the thread that starts it, while no other knows of the activation.
  void complete_at_once(Status status) {
    status_ = std::move(status);
    finished_ = true;
    call_at_end(function_.load(std::memory_order_relaxed), context_);
    done_.store(true, std::memory_order_release);
  }
  // Makes it active again, without a lock, too. Returns whether it has a completion function.
  bool reset() {
    status_ = {};
    finished_ = false;
    done_.store(false, std::memory_order_relaxed);
    return function_.load(std::memory_order_relaxed) != nullptr;
  }
  // Wakes the workers: a function waits for the end, and perhaps no thread that could help.
  virtual void wake_workers() = 0;

 private:
  // The completion functions that this thread is in.
  struct Inside {
    explicit Inside(const Completion* completion) : of(completion) { innermost = this; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() { innermost = outer; }
    const Completion* of;
    const Inside* outer = innermost;
  };
  static inline constinit thread_local const Inside* innermost = nullptr;

  // Not inlined: calls without a function would save registers for it.
  [[nodiscard, gnu::noinline, gnu::cold]] bool is_inside() const {
    for (const Inside* inside = innermost; inside != nullptr; inside = inside->outer) {
      if (inside->of == this) return true;
    }
    return false;
  }

  // Nobody waits here whom an exception would reach: it becomes the outcome.
  void call_at_end(tutti_completion_fn function, void* context) {
    if (function == nullptr) return;
    try {
      call(function, context);
    } catch (...) {
      if (status_.ok()) status_ = caught_exception();
    }
  }
  void call(tutti_completion_fn function, void* context) const {
    const Inside inside(this);
    const std::string text(status_.message());
    function(static_cast<tutti_status>(status_.code()), text.c_str(), context);
  }

  BriefLock lock_;
  std::atomic<tutti_completion_fn> function_{nullptr};  // set with lock_ held while it is active
  void* context_ = nullptr;                             // guarded by lock_ while it is active
  bool finished_ = false;                               // likewise
  Status status_;                                       // written before done_ or finished_
  std::atomic<bool> done_{false};
};

}  // namespace tutti
