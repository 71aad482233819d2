// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The threads that complete futures and run what waits for them. A future's callbacks are the
// user's: they may run Python, and start further operations and wait for their futures. So they
// never run in a thread of the library. There is always a free thread for the next task: one is
// added when all are busy.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace tutti_torch {

class FuturePool {
 public:
  using Task = std::function<void()>;  // throws nothing

  // Never destroyed: threads of the library may post while the process exits.
  static FuturePool& instance();
  // In the child, after a fork, which has none of the threads.
  static void forget();

  void post(Task task);
  // Runs what was posted and ends the threads. It is for the exit of the interpreter, after which a
  // thread that needs Python would bring the process down. Waits for callbacks no longer than
  // `grace`. Later posts start threads again.
  void stop(std::chrono::milliseconds grace);

 private:
  static FuturePool*& now();
  void run();

  std::mutex mutex_;
  std::condition_variable posted_;
  std::condition_variable ended_;
  std::deque<Task> queue_;
  size_t idle_ = 0;
  size_t threads_ = 0;
  bool stopping_ = false;
};

}  // namespace tutti_torch
