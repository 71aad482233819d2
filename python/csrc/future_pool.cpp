// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "future_pool.hpp"

#include <pthread.h>

#include <thread>
#include <utility>

namespace tutti_torch {
namespace {

// Threads that stay when there is nothing to do.
constexpr size_t kKept = 2;

}  // namespace

FuturePool*& FuturePool::now() {
  static auto* pool = new FuturePool;
  return pool;
}

FuturePool& FuturePool::instance() { return *now(); }

// The old one may be locked by a thread that is not here.
void FuturePool::forget() { now() = new FuturePool; }

void FuturePool::post(Task task) {
  std::lock_guard guard(mutex_);
  queue_.push_back(std::move(task));
  if (idle_ >= queue_.size()) {
    posted_.notify_one();
    return;
  }
  ++threads_;
  std::thread([this] { run(); }).detach();  // stop() waits for threads_ to become 0
}

void FuturePool::run() {
  pthread_setname_np(pthread_self(), "tutti-future");
  std::unique_lock lock(mutex_);
  for (;;) {
    if (queue_.empty() && idle_ >= kKept) break;
    ++idle_;
    posted_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    --idle_;
    if (queue_.empty()) break;
    Task task = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    task();
    task = nullptr;  // may drop tensors: not under the lock
    lock.lock();
  }
  --threads_;
  ended_.notify_all();
}

void FuturePool::stop(std::chrono::milliseconds grace) {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  posted_.notify_all();
  ended_.wait_for(lock, grace, [this] { return threads_ == 0; });
  stopping_ = false;
}

}  // namespace tutti_torch
