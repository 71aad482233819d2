// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The order of callbacks. Ranks make the same calls in the same order. The calls of futures'
// callbacks must follow that rule too, though operations complete at other times on every rank. So:
//
// - The callbacks that Python attaches to the futures of a group's collectives run one after the
//   other, in the order in which they were attached, which is that of the program. One that is
//   attached to a complete future takes its turn like the others.
// - Collectives that a callback calls are a sequence of their own, with a communicator of its own
//   (streams.hpp), so that nothing depends on how far the threads of the program have come. The
//   thread's origin says which.
//
// A callback may wait for its collectives: their completion, and the callbacks attached to them in
// turn, are other queues' work.
#pragma once

#include <ATen/ThreadLocalState.h>
#include <ATen/core/ivalue.h>

#include <deque>
#include <memory>
#include <mutex>
#include <string>

namespace tutti_torch {

class CallbackQueue : public std::enable_shared_from_this<CallbackQueue> {
 public:
  using FuturePtr = c10::intrusive_ptr<c10::ivalue::Future>;

  // `name` is the origin of its callbacks; the same on all ranks.
  explicit CallbackQueue(std::string name) : name_(std::move(name)) {}

  // When `cause` is complete and all earlier entries are done, `gate` gets its value or error, in a
  // thread of the pool. The callbacks are attached to the gate before.
  void post(const FuturePtr& cause, FuturePtr gate);
  // The queue whose callback this thread runs; empty in a thread of the program.
  static const std::string& origin();

 private:
  struct Entry {
    FuturePtr cause;
    FuturePtr gate;
    at::ThreadLocalState caller;
  };
  void advance();
  void run();
  bool ready() const { return !entries_.empty() && entries_.front().cause->completed(); }

  const std::string name_;
  std::mutex mutex_;
  std::deque<Entry> entries_;
  bool running_ = false;
};

}  // namespace tutti_torch
