// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "exec/worker.hpp"

#include <pthread.h>

#include <algorithm>
#include <string>

#include "core/log.hpp"
#include "core/topology.hpp"

namespace tutti {
namespace {

// An idle worker burns nothing: it sleeps at once.
constexpr Patience kIdle{.spins = 0, .yields = 0, .wake_needs_fence = true};

void add_once(std::vector<Driven*>& list, Driven* driven) {
  if (std::find(list.begin(), list.end(), driven) == list.end()) list.push_back(driven);
}

}  // namespace

Worker::Worker(int index, int core) : index_(index), core_(core), thread_([this] { run(); }) {}

Worker::~Worker() {
  stopping_.store(true);
  signal();
  thread_.join();
}

void Worker::wake(Driven& driven) {
  {
    const std::lock_guard lock(mutex_);
    add_once(inbox_, &driven);
  }
  signal();
}

void Worker::forget(Driven& driven) {
  {
    const std::lock_guard lock(mutex_);
    std::erase(inbox_, &driven);
    to_forget_.push_back(&driven);
  }
  signal();
  const uint64_t posted = posted_.load();
  wait_until(Waiter{.patience = &kIdle}, [&] { return taken_.load() >= posted; });
}

// The count and the bell: the thread looks at the count after it has said on which bell it waits.
void Worker::signal() {
  posted_.fetch_add(1);
  if (Bell* bell = waits_on_.load(); bell != nullptr) {
    bell->rings.fetch_add(1, std::memory_order_release);
    ring(*bell);
  }
}

void Worker::run() {
  pthread_setname_np(pthread_self(), ("tutti-" + std::to_string(index_)).c_str());
  if (core_ >= 0) {
    if (const Status status = bind_this_thread(core_); !status.ok()) {
      log::warn("worker {} runs unbound: {}", index_, status.message());
    }
  }
  for (;;) {
    take_inbox();
    // After that, for what signals the stop is taken with the inbox, and would end no wait.
    if (stopping_.load()) return;
    bool moved = false;
    for (Driven* driven : active_) moved |= driven->drive(index_);
    std::erase_if(active_, [this](Driven* driven) { return driven->idle(index_); });
    if (!moved) wait_for_work();
  }
}

void Worker::take_inbox() {
  const uint64_t posted = posted_.load();
  {
    const std::lock_guard lock(mutex_);
    for (Driven* driven : inbox_) add_once(active_, driven);
    inbox_.clear();
    for (Driven* driven : to_forget_) std::erase(active_, driven);
    to_forget_.clear();
  }
  taken_.store(posted);
}

void Worker::wait_for_work() {
  Waiter waiter{.bell = &bell_, .patience = &kIdle};
  if (!active_.empty()) {
    waiter = active_.front()->waiter();
    // Bells of several communicators cannot be listened to at once: look after the others often.
    if (active_.size() > 1) waiter.timeout_ms = 1;
  }
  waits_on_.store(waiter.bell);
  wait_until(waiter, [this] {
    if (posted_.load() != taken_.load()) return true;
    return std::any_of(active_.begin(), active_.end(),
                       [this](Driven* driven) { return driven->drive(index_); });
  });
  waits_on_.store(nullptr);
}

WorkerPool::WorkerPool(std::vector<int> cores)
    : cores_(std::move(cores)), workers_(cores_.size()) {}

bool WorkerPool::started() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(workers_.begin(), workers_.end(),
                     [](const auto& worker) { return worker != nullptr; });
}

void WorkerPool::wake(int worker, Driven& driven) {
  const auto i = static_cast<size_t>(worker);
  const std::lock_guard lock(mutex_);
  if (workers_[i] == nullptr) workers_[i] = std::make_unique<Worker>(worker, cores_[i]);
  workers_[i]->wake(driven);
}

void WorkerPool::forget(Driven& driven) {
  const std::lock_guard lock(mutex_);
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (worker != nullptr) worker->forget(driven);
  }
}

}  // namespace tutti
