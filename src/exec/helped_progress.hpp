// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Progress of collectives and messages that were started. A thread of the application that starts,
// tests or waits for them does the work of the first worker meanwhile. The worker is woken only if
// the application stays away for long (adapt/return_predictor.hpp).
#pragma once

#include <atomic>
#include <string_view>

#include "adapt/return_predictor.hpp"
#include "exec/completion.hpp"
#include "exec/worker.hpp"

namespace tutti {

class Health;

// How often poll_briefly() polls: a small part of what a wait spins.
inline constexpr uint32_t kPollsAtOnce = 50;

class HelpedProgress : public Driven {
 public:
  // `workers` and `bell`, on which threads of this rank sleep, outlive it. Those that wait here
  // spin as `caller_budget` says. The destructor of the derived class has workers forget it, for
  // they call its functions (workers_forget_this()).
  HelpedProgress(WorkerPool& workers, Bell& bell, const SpinBudget& caller_budget)
      : workers_(workers), bell_(bell), caller_budget_(caller_budget) {}

  // Does what can be done now; any thread.
  virtual void help() = 0;
  // Helps in a thread of the application, which then goes on with its own work.
  void help_from_application();
  // The workers that drive what is started here.
  [[nodiscard]] WorkerPool& workers() { return workers_; }
  // What threads of this rank sleep on, and how they spin before that.
  [[nodiscard]] Bell& bell() const { return bell_; }
  [[nodiscard]] const SpinBudget& caller_budget() const { return caller_budget_; }
  // Wakes the workers that have work here.
  void wake_workers();
  // Something that was started has its outcome. `over`: no visitor is left inside.
  void one_has_ended(bool over) {
    wake_this_rank();
    if (over) one_is_over();
  }
  // Something that was started is over (exec/completion.hpp): this may be destroyed when all is.
  void one_is_over() { outstanding_.fetch_sub(1, std::memory_order_release); }
  [[nodiscard]] bool idle() const { return outstanding_.load(std::memory_order_acquire) == 0; }

  // The first worker leaves its work to a thread that waits, if there is one.
  [[nodiscard]] bool needs(int worker) const final {
    return has_work(worker) && (worker != 0 || waiting_.load() == 0);
  }

  // Whether a thread waits for something here (help_until_done()).
  [[nodiscard]] bool waited_for() const { return waiting_.load(std::memory_order_relaxed) > 0; }

 protected:
  // Something starts. Whoever sees that not all is idle() sees what was queued before this.
  void one_begins() { outstanding_.fetch_add(1, std::memory_order_release); }
  // How many are started and not over.
  [[nodiscard]] size_t outstanding() const { return outstanding_.load(std::memory_order_relaxed); }
  // The end of the derived class.
  void workers_forget_this() { workers_.forget(*this); }

  // The application is about to start something; it has started it and goes on with its own work.
  // Workers are woken at once for an operation with a completion function (`has_callback`).
  void application_calls() { predictor().returns(); }
  void after_start(bool has_callback);
  // Polls a few times for an operation that a thread begins to wait for; whether it is done then.
  bool poll_briefly(const Completion& what);
  // Wakes threads of this rank that wait for what this thread has just done.
  void wake_this_rank() { ring_after_store(bell_, caller_budget_); }
  // Polls until the operation is done, or until the waiter's deadline, stop or interrupt.
  WaitEnd help_until_done(const Completion& what, const Waiter& waiter);
  // Polls like help_until_done(), but returns after an interrupt only when the operation has ended:
  // after that the user may free its buffers. The interrupt breaks the communicator; `name()` says
  // where. The waiter has no stop flags.
  WaitEnd help_to_end(const Completion& what, Waiter waiter, Health& health, const auto& name) {
    const WaitEnd end = help_until_done(what, waiter);
    if (end == WaitEnd::kInterrupted) end_after_interrupt(what, waiter, health, name());
    return end;
  }

  // How this ends: helps until nothing is outstanding; `what` names it. A timeout, if the waiter's
  // limit passes. An interrupt breaks the communicator, which ends all that is: its cause.
  Status help_until_idle(Health& health, Waiter waiter, std::string_view what);

  // Whether that worker has work left here, even if another thread is doing it.
  [[nodiscard]] virtual bool has_work(int worker) const = 0;
  // Whether another thread is doing the work at this moment, so that help() does nothing.
  [[nodiscard]] virtual bool held() const = 0;

  // A worker that is needed cannot be started.
  virtual void cannot_start_worker(const Status& why) = 0;
  void wake(int worker) {
    if (const Status woken = workers_.wake(worker, *this); !woken.ok()) cannot_start_worker(woken);
  }

 private:
  void application_leaves();
  void end_after_interrupt(const Completion& what, Waiter waiter, Health& health,
                           std::string_view name);

  WorkerPool& workers_;
  Bell& bell_;
  const SpinBudget caller_budget_;
  std::atomic<size_t> outstanding_{0};
  std::atomic<int> waiting_{0};  // threads in help_until_done()
};

}  // namespace tutti
