// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What collectives and messages that were started have in common: threads of the application start
// them, look in and wait, and do then what the first worker would, which is woken only for an
// application that stays away (adapt/return_predictor.hpp).
#pragma once

#include <atomic>

#include "adapt/return_predictor.hpp"
#include "core/tuned.hpp"
#include "exec/completion.hpp"
#include "exec/worker.hpp"

namespace tutti {

// For so many polls, half a microsecond or more, what ends soon is waited for before other threads
// are told.
inline constexpr uint32_t kPollsAtOnce = tuned::kPollsAtOnce;

class HelpedProgress : public Driven {
 public:
  // `workers` outlive it. Its destructor has them forget it, while it is still all there.
  explicit HelpedProgress(WorkerPool& workers) : workers_(workers) {}

  // Does what can be done now; any thread. The second for an application that looks in.
  virtual void help() = 0;
  void visit();
  // Has the workers do so now.
  void hasten();

  // The first worker leaves what there is to whoever waits.
  [[nodiscard]] bool needs(int worker) const final {
    return has_work(worker) && (worker != 0 || waiting_.load() == 0);
  }

 protected:
  // The application starts something; it has, and goes away. Workers see to it at once if a
  // function is to be called when it completes.
  void starts() { predictor().returns(); }
  void started(bool listened_to);
  // An application waits for what is not done: whether a few polls are enough.
  bool ends_soon(const Completion& what, const SpinBudget& of_caller);
  // The same until the end, or that of the waiter's budget.
  WaitEnd help_until_done(const Completion& what, const Waiter& waiter);

  // Whether a thread is in help_until_done().
  [[nodiscard]] bool waited_for() const { return waiting_.load(std::memory_order_relaxed) > 0; }

  // Whether something is left to do for that worker, whoever does it.
  [[nodiscard]] virtual bool has_work(int worker) const = 0;
  // Whether some thread is about it at this moment, so that help() does nothing.
  [[nodiscard]] virtual bool held() const = 0;

  // A worker that would have to see to what there is cannot be started.
  virtual void lacks_worker(const Status& why) = 0;
  void wake(int worker) {
    if (const Status woken = workers_.wake(worker, *this); !woken.ok()) lacks_worker(woken);
  }

  WorkerPool& workers_;

 private:
  void goes_away();

  std::atomic<int> waiting_{0};  // threads in help_until_done()
};

}  // namespace tutti
