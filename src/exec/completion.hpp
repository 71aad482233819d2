// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The life of what was started: the common part of collective operations and messages, and what a
// tutti_request_t refers to. It is in one word, which only these functions change:
//
//   state_             is                                    set by
//   0                  never started                         -
//   kActive            under way                             activate()
//   kActive | kEnded   its outcome known, its function runs  complete() or complete_at_once()
//   kEnded             done, until the next activate()       the same, after the function
//   + n * kVisitor     n threads in wait() or help()         Visit, only while it is active
//
// A completion may outlive the HelpedProgress that carries it out, which visitors use. So an
// activation is *over* when it is done and its last visitor has left. Whoever comes last of these
// tells the HelpedProgress, which may be destroyed when all are over.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "core/brief_lock.hpp"
#include "core/caught.hpp"
#include "core/status.hpp"

namespace tutti {

// The finisher of an operation that is started: the workers, or the thread that starts it, which
// will wait until it is done. Workers then drive the lanes beyond the first only.
enum class StartedFor { kWorkers, kCaller };

class HelpedProgress;

class Completion {
 public:
  explicit Completion(HelpedProgress& progress) : progress_(progress) {}
  virtual ~Completion() = default;

  // Begins an activation; it must not be active.
  virtual Status start(StartedFor whom) = 0;
  // Ends the activation after an error of start(), which may have come half way.
  void did_not_start() { state_.fetch_and(~kActive, std::memory_order_release); }
  // Instead of start(): the activation ends with this error before it has begun.
  void fail(Status status) {
    activate();
    complete_at_once(std::move(status));
  }
  // Waits for the end of the activation, helping it along; kTimeout after timeout_ms (kNever: no
  // limit but the communicator's) leaves it active. Any thread.
  Status wait(int64_t timeout_ms) {
    const Visit visit(*this);
    return visit.inside() ? wait_inside(timeout_ms) : status();
  }
  // Does what can be done now. Any thread.
  void help();

  // Whether it is not active: it is complete, or was never started.
  [[nodiscard]] bool done() const {
    return (state_.load(std::memory_order_acquire) & kActive) == 0;
  }
  // The outcome, once done.
  [[nodiscard]] const Status& status() const { return status_; }
  // Returns, once done, when the last thread that has waited for it is out.
  void await_visitors() const {
    if (!has_no_visitor()) [[unlikely]]
      await_last_visitor();
  }

  // Whether this thread is in the completion function of this.
  [[nodiscard]] bool in_its_function() const {
    return function_.load(std::memory_order_relaxed) != nullptr && is_inside();
  }
  // Whether this thread is in the completion function of anything that `progress` carries out.
  [[nodiscard]] static bool in_function_of(const HelpedProgress& progress);

  // Calls function when it completes, or now if it has; null: none any more.
  void on_complete(tutti_completion_fn function, void* context) {
    std::unique_lock lock(lock_);
    function_.store(function, std::memory_order_relaxed);
    context_ = context;
    const bool ended = (state_.load(std::memory_order_acquire) & kEnded) != 0;
    lock.unlock();
    if (function == nullptr) return;
    if (ended) {
      call(function, context);
    } else {
      wake_workers();
    }
  }

  // ---- for who carries it out
  // Begins the activation, without a lock. Returns whether there is a completion function.
  bool activate() {
    status_ = {};
    state_.store(kActive, std::memory_order_relaxed);
    return function_.load(std::memory_order_relaxed) != nullptr;
  }
  // Ends the activation, once, after the completion function. The object may be gone then.
  void complete(Status status);
  // Completes without a lock, in the thread that starts it, while no other knows of the activation.
  void complete_at_once(Status status) {
    status_ = std::move(status);
    state_.store(kActive | kEnded, std::memory_order_relaxed);
    call_at_end(function_.load(std::memory_order_relaxed), context_);
    state_.store(kEnded, std::memory_order_release);
  }

 protected:
  // Waits like wait(), as a visitor.
  virtual Status wait_inside(int64_t timeout_ms) = 0;

 private:
  // Bits of state_. The count of visitors is in those from kVisitor on.
  static constexpr uint32_t kActive = 1;
  static constexpr uint32_t kEnded = 2;
  static constexpr uint32_t kVisitor = 4;

  // A visit. While it lasts, the HelpedProgress stays.
  class Visit {
   public:
    explicit Visit(Completion& visited) : visited_(visited) {
      uint32_t state = visited.state_.load(std::memory_order_acquire);
      while ((state & kActive) != 0 && !inside_) {
        inside_ = visited.state_.compare_exchange_weak(state, state + kVisitor,
                                                       std::memory_order_acquire);
      }
    }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;
    ~Visit() {
      if (inside_) visited_.leave();
    }
    // Whether it has begun: the completion was active.
    [[nodiscard]] bool inside() const { return inside_; }

   private:
    Completion& visited_;
    bool inside_ = false;
  };
  void leave();
  [[nodiscard]] bool has_no_visitor() const {
    return (state_.load(std::memory_order_acquire) & ~kEnded) == 0;
  }
  void await_last_visitor() const;
  // A function waits for the end, and perhaps no thread that could help.
  void wake_workers();

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

  // The search is not inlined, lest calls without a function save registers for it.
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

  HelpedProgress& progress_;
  BriefLock lock_;
  std::atomic<tutti_completion_fn> function_{nullptr};  // set with lock_ held while it is active
  void* context_ = nullptr;                             // guarded by lock_ while it is active
  Status status_;                                       // written before kEnded is set
  std::atomic<uint32_t> state_{0};  // kEnded is set with lock_ held while it is active
};

}  // namespace tutti
