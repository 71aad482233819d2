// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The handle of an asynchronous operation: requests of the library, and the tensors they use.
//
// Who completes it. The thread that first finds all requests done: one in wait(), which helps to
// run them, or one that asks isCompleted(). If a future or a profiler wants to hear of it, the
// library's completion callback hands it to a thread of the FuturePool. That one of them settles
// it: copies staged results to where they belong, keeps the first error, wakes the others. Futures
// are always completed by the pool, since their callbacks may run anything, also wait for further
// operations.
//
// Life. Its communicator keeps it alive from its start until its requests are freed. The requests
// are freed by the last thread that leaves it once it is settled.
#pragma once

#include <ATen/ThreadLocalState.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <tutti/tutti.h>

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

#include "convert.hpp"
#include "flight_recorder.hpp"

namespace tutti_torch {

class CallbackQueue;
class Communicator;

// A handle of this backend.
class CollectiveWork : public c10d::Work {
 public:
  // `callbacks` orders what is attached to its future; null: nothing does.
  CollectiveWork(std::shared_ptr<CallbackQueue> callbacks, int rank, c10d::OpType type,
                 const char* title, const std::vector<at::Tensor>& inputs)
      : Work(rank, type), callbacks_(std::move(callbacks)) {
    if (title != nullptr && at::hasCallbacks()) begin_event(title, inputs);
  }
  const std::shared_ptr<CallbackQueue>& callbacks() const { return callbacks_; }

 private:
  // The event of that title lasts until the work is complete.
  void begin_event(const char* title, const std::vector<at::Tensor>& inputs);

  const std::shared_ptr<CallbackQueue> callbacks_;
};

class RequestWork final : public CollectiveWork {
 public:
  using Milliseconds = std::chrono::milliseconds;
  // Tensors as PyTorch gives them: a list, or a list of lists.
  using Outputs = std::vector<std::vector<at::Tensor>>;

  RequestWork(std::shared_ptr<Communicator> communicator, std::shared_ptr<CallbackQueue> callbacks,
              int rank, c10d::OpType type, const char* title, uint64_t sequence,
              const std::vector<at::Tensor>& inputs);
  ~RequestWork() override;

  // ---- while it is being built, by one thread ----
  // Memory for the library's next request.
  tutti_request_t* add_request();
  // The longest wait of its calls, for errors.
  void set_limit(Milliseconds limit) { limit_ = limit; }
  void keep(at::Tensor tensor) { kept_.push_back(std::move(tensor)); }
  void own(OwnedOp op) { ops_.push_back(std::move(op)); }
  // Runs once, after success, in the thread that settles the work.
  void on_success(std::function<void()> step) { steps_.push_back(std::move(step)); }
  // The last request is a receive of so many elements.
  void expect_message(size_t count) { messages_.push_back({requests_.size() - 1, count}); }
  // All requests are there. `nested`: the value of the future is a list of lists.
  void commit(Outputs outputs, bool nested);

  // ---- c10d::Work, any thread ----
  bool isCompleted() override;
  bool wait(Milliseconds timeout = kNoTimeout) override;
  void abort() override;
  std::vector<at::Tensor> result() override;
  int sourceRank() const override;
  uint64_t getSequencenumber() const override { return sequence_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;

  // Waits without throwing; true if it is complete. No timeout: until it is.
  bool wait_quietly(std::optional<Milliseconds> timeout);
  // The work of the pool after the library has reported completion.
  void complete_in_pool();

 private:
  struct Message {
    size_t request;  // its index
    size_t count;    // elements that it must have
  };

  friend class Communicator;  // place_
  friend class Visit;
  bool enter();
  void leave();
  bool all_done();
  bool await_requests(std::optional<Milliseconds> timeout);
  void settle();
  std::exception_ptr outcome();
  void check_message(const Message& message);
  void watch();
  void complete_future();
  static void on_complete(tutti_status status, const char* error, void* context);

  const std::shared_ptr<Communicator> communicator_;
  const uint64_t sequence_;
  const char* const title_;
  const FlightRecorder::Entry entry_;

  // Fixed once committed.
  Milliseconds limit_{0};
  std::vector<tutti_request_t> requests_;
  std::vector<at::Tensor> kept_;
  std::vector<OwnedOp> ops_;
  std::vector<std::function<void()>> steps_;
  std::vector<Message> messages_;
  Outputs outputs_;
  bool nested_ = false;

  // The pool's knowledge of this work: nothing, that it will be reported, that it was.
  enum class Delivery { kUnasked, kAwaited, kDone };

  std::mutex state_mutex_;  // for the next five
  int visitors_ = 0;        // threads that use requests_
  bool claimed_ = false;    // someone settles it
  bool settled_ = false;    // requests_ may be used only by those who are in already
  c10::intrusive_ptr<c10::ivalue::Future> future_;
  Delivery delivery_ = Delivery::kUnasked;

  std::optional<at::ThreadLocalState> caller_state_;  // of the thread that asked for the future
  std::atomic<size_t> unreported_ = 0;  // requests whose completion the library has yet to report
  std::atomic<int> source_rank_ = -1;
  // In the communicator's list; under its lock.
  std::optional<std::list<c10::intrusive_ptr<RequestWork>>::iterator> place_;
};

}  // namespace tutti_torch
