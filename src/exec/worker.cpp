// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The loop of a worker thread, and how it is woken, put to sleep and ended.
#include "exec/worker.hpp"

#include <algorithm>
#include <string>

#include "core/caught.hpp"
#include "core/log.hpp"
#include "core/thread.hpp"
#include "core/topology.hpp"

namespace tutti {
namespace {

// An idle worker looks for work this often, in case nobody woke it.
constexpr int64_t kLookEveryUs = 10'000;

void add_once(std::vector<Driven*>& list, Driven* driven) {
  if (std::find(list.begin(), list.end(), driven) == list.end()) list.push_back(driven);
}

}  // namespace

Status Worker::start() {
  auto thread = start_thread("tutti-" + std::to_string(index_), "a worker", [this] { run(); });
  if (!thread.ok()) return thread.status();
  thread_ = *std::move(thread);
  return {};
}

Worker::~Worker() {
  if (!thread_.joinable()) return;
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
  wait_until(Waiter{.budget = &kNoSpinning, .uninterrupted = true},
             [&] { return taken_.load() >= posted; });
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
  if (core_ >= 0) {
    if (const Status status = bind_this_thread(core_); !status.ok()) {
      log::warn("worker {} runs unbound: {}", index_, status.message());
    }
  }
  for (;;) {
    try {
      if (!turn()) return;
    } catch (const std::bad_alloc&) {  // memory may come later; the work stays
      nap(bell_, kLookEveryUs, [] { return false; });
    }
  }
}

// Does what there is to do; returns false at the stop.
bool Worker::turn() {
  take_inbox();
  // The stop is looked at last: its signal is taken with the inbox, and would end no wait.
  if (stopping_.load()) return false;
  if (const Driven* first = first_in_need(); first != nullptr) {
    work(*first);
  } else {
    sleep();
  }
  return true;
}

void Worker::take_inbox() {
  const uint64_t posted = posted_.load();
  {
    const std::lock_guard lock(mutex_);
    for (Driven* driven : inbox_) add_once(known_, driven);
    inbox_.clear();
    for (Driven* driven : to_forget_) std::erase(known_, driven);
    to_forget_.clear();
  }
  taken_.store(posted);
}

Driven* Worker::first_in_need() const {
  const auto in_need = [this](const Driven* driven) { return driven->needs(index_); };
  const auto found = std::ranges::find_if(known_, in_need);
  return found == known_.end() ? nullptr : *found;
}

// Waits and drives all that it knows until something moves, a signal comes, or `first` needs
// nothing more.
void Worker::work(const Driven& first) {
  const auto is_another = [&](const Driven* driven) {
    return driven != &first && driven->needs(index_);
  };
  const auto moves = [this](Driven* driven) { return driven->drive(index_); };
  Waiter waiter = first.waiter();
  // Bells of several communicators cannot be listened to at once: look after the others often.
  if (std::ranges::any_of(known_, is_another)) waiter.timeout_ms = 1;
  busy_.fetch_add(1, std::memory_order_relaxed);
  waits_on_.store(waiter.bell);
  wait_until(waiter, [&] {
    return has_signal() || std::ranges::any_of(known_, moves) || !first.needs(index_);
  });
  waits_on_.store(nullptr);
  busy_.fetch_sub(1, std::memory_order_relaxed);
}

// Sleeps until a signal comes, or until there is work that no thread of the application has come
// back to do.
void Worker::sleep() {
  waits_on_.store(&bell_);
  while (!has_signal()) {
    nap(bell_, kLookEveryUs, [this] { return has_signal(); });
    Driven* const left = first_in_need();
    if (left != nullptr && nap_and_ask_if_left(*left)) break;
  }
  waits_on_.store(nullptr);
}

bool Worker::nap_and_ask_if_left(Driven& driven) {
  const uint32_t visits = driven.predictor().visits();
  nap(bell_, kBackSoonUs, [this] { return has_signal(); });
  if (driven.predictor().visits() != visits || !driven.needs(index_)) return false;
  driven.predictor().stayed_away();
  return true;
}

WorkerPool::WorkerPool(std::vector<int> cores)
    : cores_(std::move(cores)), workers_(cores_.size()) {}

bool WorkerPool::started() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(workers_.begin(), workers_.end(),
                     [](const auto& worker) { return worker != nullptr; });
}

Status WorkerPool::wake(int worker, Driven& driven) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    TUTTI_ASSIGN_OR_RETURN(Worker* const found, worker_of(static_cast<size_t>(worker)));
    found->wake(driven);
    return {};
  } catch (...) {
    return caught_exception();
  }
}

// The worker, which is started if it is not yet; with the lock held.
Result<Worker*> WorkerPool::worker_of(size_t worker) {
  if (workers_[worker] == nullptr) {
    auto made = std::make_unique<Worker>(static_cast<int>(worker), cores_[worker], busy_);
    TUTTI_RETURN_IF_ERROR(made->start());
    workers_[worker] = std::move(made);
  }
  return workers_[worker].get();
}

void WorkerPool::forget(Driven& driven) {
  const std::lock_guard lock(mutex_);
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (worker != nullptr) worker->forget(driven);
  }
}

}  // namespace tutti
