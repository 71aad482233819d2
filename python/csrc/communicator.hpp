// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The communicator of one process group, together with what must be over before it can go: the
// calls in progress and the asynchronous works.
//
// Threads. The library wants one thread at a time; lock() sees to it. A blocking call holds the
// lock until it is done: a later call could not overtake it anyway. abort() needs no lock. Nobody
// waits for Python's interpreter lock while holding a lock of this class.
//
// Forks. A child inherits the object, but neither its threads nor the peers' trust. Calls throw
// there, and close() and the end of the last reference leave everything as it is.
#pragma once

#include <c10/core/Device.h>
#include <tutti/tutti.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <torch/csrc/distributed/c10d/Types.hpp>
#include <vector>

#include "failure_hooks.hpp"
#include "owner.hpp"
#include "work.hpp"

namespace tutti_torch {

class Communicator;

// The name of a communicator, and the origin of its ranks.
struct GroupInfo {
  std::string name;               // in errors
  std::vector<int> global_ranks;  // by rank; empty: the ranks are those of the job
  // A communicator of all these ranks. If it breaks while the new one is made, so does that. Null:
  // none.
  std::shared_ptr<Communicator> parent;
  std::shared_ptr<FailureHooks> hooks;  // of the group; null: none
};

class Communicator {
 public:
  using Milliseconds = std::chrono::milliseconds;
  // Collective over the ranks of the group.
  static std::shared_ptr<Communicator> create(c10d::Store& store, int rank, int size,
                                              Milliseconds timeout, const GroupInfo& info);
  // Collective over the ranks that call with this id; `meeting` is how long they may take to meet.
  static std::shared_ptr<Communicator> create(const tutti_unique_id& id, int rank, int size,
                                              Milliseconds timeout, Milliseconds meeting,
                                              const GroupInfo& info);
  Communicator(tutti_comm_t handle, bool has_views, Milliseconds timeout,
               std::shared_ptr<FailureHooks> hooks);
  ~Communicator();

  // The right to make calls, and what they are made on. Throws if the communicator is closed.
  class Turn {
   public:
    Turn() = default;
    tutti_comm_t handle() const { return handle_; }
    // The longest wait of a call.
    Milliseconds limit() const { return limit_; }
    explicit operator bool() const { return handle_ != nullptr; }

   private:
    friend class Communicator;
    std::unique_lock<std::timed_mutex> lock_;
    tutti_comm_t handle_ = nullptr;
    Milliseconds limit_{0};
  };
  // `timeout` is the longest wait of the calls made in this turn; negative: the group's own.
  Turn lock(Milliseconds timeout);

  void set_default_timeout(Milliseconds timeout) { default_timeout_ms_ = timeout.count(); }
  Milliseconds default_timeout() const { return Milliseconds(default_timeout_ms_); }

  // Throws in a forked child of the process that made this.
  void check_owner(const char* title) const { owner_.check(title); }

  // Keeps a work alive until it is complete, even if its handle is dropped; sweep() completes
  // those.
  void adopt(const c10::intrusive_ptr<RequestWork>& work);
  // The work is complete and its requests are freed.
  void forget(RequestWork& work);
  void sweep();

  // Whether calls on tensors of XPU are made on views (sycl_queues.hpp): the same on all ranks.
  bool has_views() const { return has_views_; }
  // The view on the thread's current stream of the device, which lives until close(). The caller
  // has the turn. Throws if there can be none.
  tutti_comm_t view_on(c10::Device device);

  // Memory of tutti_alloc. It lives until it is given back, in whatever thread, even if the
  // communicator is closed before.
  void* allocate(size_t bytes);
  void give_back(void* memory);

  // The handle, which stays until the loan ends, for what needs no turn.
  class Loan {
   public:
    explicit Loan(std::shared_ptr<Communicator> lender);
    ~Loan();
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    tutti_comm_t handle() const { return handle_; }  // null if there is no lender, or it is closed

   private:
    const std::shared_ptr<Communicator> lender_;
    tutti_comm_t handle_ = nullptr;
  };

  // The state without a call, with its text in tutti_last_error(). Any thread.
  tutti_status state();
  // Runs the group's hooks if this is broken and they have not run for it. The caller has no turn.
  void tell_failure();
  // True if a communicator of this process is broken.
  static bool any_broken();
  // Finds out which works are complete.
  static void look_at_all();
  // Waits for the works that are there.
  void wait_for_works();

  // Ends every call in progress or to come, on all ranks, with an error. Any thread; at once.
  void abort(const std::string& reason);
  // Lets the outstanding works end within `grace`, aborts those that do not, and frees the
  // communicator. The second call does nothing.
  void close(Milliseconds grace);
  // The two above for every communicator of the process.
  static void close_all(Milliseconds grace);
  static void abort_all(const std::string& reason);
  // In the child, after a fork.
  static void forget_all();

 private:
  // In a forked child the memory stays: a condition variable whose waiters are not there cannot be
  // destroyed.
  static void release(Communicator* communicator) {
    if (communicator->owner_.here()) delete communicator;
  }
  using Works = std::list<c10::intrusive_ptr<RequestWork>>;
  Works snapshot();
  void release_memory();  // the caller has the turn
  tutti_comm_t take_handle();
  void destroy_views();  // likewise

  const Owner owner_;
  const std::shared_ptr<FailureHooks> hooks_;
  std::atomic<bool> failure_told_ = false;
  const bool has_views_;

  std::timed_mutex turn_;       // held while calls are made
  int64_t current_timeout_ms_;  // what the library was told last; under turn_
  std::atomic<int64_t> default_timeout_ms_;

  std::mutex handle_mutex_;  // orders abort(), loans and the end of the handle
  tutti_comm_t handle_;      // null once closed
  int loans_ = 0;            // under handle_mutex_
  std::condition_variable loan_ended_;

  std::map<void*, tutti_comm_t> views_;  // by stream; under turn_

  size_t allocated_ = 0;             // pieces of memory that were not released yet; under turn_
  tutti_comm_t leftover_ = nullptr;  // the handle, if it was closed while there were any; alike
  std::mutex given_back_mutex_;      // never held while waiting for turn_
  std::vector<void*> given_back_;    // while another thread had the turn

  std::mutex works_mutex_;
  std::condition_variable works_changed_;
  Works works_;
};

}  // namespace tutti_torch
