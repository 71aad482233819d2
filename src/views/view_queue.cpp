// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "views/view_queue.hpp"

#include <algorithm>
#include <mutex>

#include "select/on_device.hpp"
#include "views/shares.hpp"

namespace tutti {
namespace {

// A thread that waits for nothing else may block in a driver, but must see an abort soon.
constexpr devices::Patience kPatience{.microseconds = 2000};
constexpr size_t kMostReached = 64;  // bounds what is remembered

}  // namespace

ViewQueue::ViewQueue(Communicator& comm)
    : HelpedProgress(comm.executor().workers(), comm.executor().bell(),
                     comm.executor().caller_budget()),
      comm_(comm),
      plans_({.rank = comm.rank(), .ranks = comm.ranks(), .limits = on_device({}).limits},
             [&figures = comm.device_figures()](const Problem& problem) {
               return Chosen{.algorithm = choose_on_device(problem, figures)};
             }) {}

ViewQueue::~ViewQueue() { workers_forget_this(); }

Status ViewQueue::submit(DeviceOperation& operation, bool has_callback, StartedFor whom) {
  application_calls();
  {
    const std::lock_guard lock(queues_lock_);
    (operation.is_message() ? messages_ : calls_).push_back(&operation);
    one_begins();
  }
  if (whom == StartedFor::kCaller) return {};
  try {
    make_progress();  // the device begins at once
    after_start(has_callback);
  } catch (...) {  // it has begun: it is in the queue
    comm_.health().fail_by_exception("its calls on device queues");
  }
  return {};
}

bool ViewQueue::may_be_peer_to_peer(const Call& call) const {
  if (!is_peer_to_peer_) return false;
  if (const Hosts* const hosts = comm_.hosts(); hosts != nullptr) {
    return has_shares(call, *hosts, comm_.config().strict);
  }
  const bool by_user = reduces(call.collective) && call.op == ReduceOp::kUser;
  return comm_.shares_memory() && !by_user &&
         can_run_on_devices(call.collective, call.count, comm_.ranks()).yes;
}

bool ViewQueue::all_have_reached(uint64_t digest) const {
  return std::ranges::find(reached_, digest) != reached_.end();
}

void ViewQueue::note_that_all_reach(uint64_t digest) {
  if (reached_.size() == kMostReached) reached_.pop_front();
  reached_.push_back(digest);
}

devices::Patience ViewQueue::patience() const {
  const bool alone = outstanding() == 1;
  return alone && waited_for() ? kPatience : devices::Patience();
}

// ---- progress ----------------------------------------------------------------------------------

// Returns whether anything ended. An operation that lacked memory is tried again by the next call.
bool ViewQueue::make_progress() {
  if (idle()) return false;
  std::vector<DeviceOperation*> ended;
  {
    const std::unique_lock lock(progress_lock_, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    try_to([&] { progress_calls(ended); });
    try_to([&] { progress_messages(ended); });
  }
  for (DeviceOperation* const operation : ended) {
    try_to([&] { operation->end(); });
  }
  return !ended.empty();
}

void ViewQueue::progress_calls(std::vector<DeviceOperation*>& ended) {
  for (;;) {
    DeviceOperation* front = nullptr;
    {
      const std::lock_guard lock(queues_lock_);
      if (!calls_.empty()) front = calls_.front();
    }
    if (front == nullptr) return;
    ended.reserve(ended.size() + 1);  // ended operations must be in the list
    if (!front->run()) return;
    ended.push_back(front);
    const std::lock_guard lock(queues_lock_);
    calls_.pop_front();
  }
}

void ViewQueue::progress_messages(std::vector<DeviceOperation*>& ended) {
  std::vector<DeviceOperation*> now;
  {
    const std::lock_guard lock(queues_lock_);
    now.assign(messages_.begin(), messages_.end());
  }
  may_send_ = true;
  for (DeviceOperation* const message : now) {
    ended.reserve(ended.size() + 1);
    const bool over = message->run();
    if (!over && message->unsent()) may_send_ = false;
    if (!over) continue;
    ended.push_back(message);
    const std::lock_guard lock(queues_lock_);
    messages_.erase(std::ranges::find(messages_, message));
  }
}

bool ViewQueue::drive(int worker) {
  if (!needs(worker)) return false;
  bool ended = false;
  while (make_progress()) ended = true;
  return ended;
}

// ---- waiting -----------------------------------------------------------------------------------

// The device rings no bell.
Waiter ViewQueue::waiter() const {
  Waiter waiter = comm_.executor().waiter();
  waiter.polls = true;
  return waiter;
}

// The thread that makes progress ends all operations when the communicator stops, so this waits on.
Waiter ViewQueue::waiter_of_caller(int64_t timeout_ms) const {
  Waiter waiter = comm_.messages().waiter_of_caller();
  waiter.polls = true;
  waiter.timeout_ms = timeout_ms;
  return waiter;
}

Status ViewQueue::wait(DeviceOperation& operation, int64_t timeout_ms) {
  const auto name = [&] { return operation.what(); };
  const WaitEnd end = help_to_end(operation, waiter_of_caller(timeout_ms), comm_.health(), name);
  if (end == WaitEnd::kInterrupted && operation.status().ok())
    return comm_.health().cause_for_call();
  if (end != WaitEnd::kDeadline) return operation.status();
  return Status::format(Code::kTimeout, "{} is not complete after {} ms", name(), timeout_ms);
}

template <typename Ready>
Status ViewQueue::wait_for(std::string_view what, const Ready& ready) {
  Waiter waiter = waiter_of_caller(kNever);
  const auto progressed = [&] {
    make_progress();
    return ready();
  };
  WaitEnd end = wait_until(waiter, progressed);
  if (end == WaitEnd::kReady) return {};
  comm_.health().interrupt(what);
  waiter.uninterrupted = true;
  (void)wait_until(waiter, progressed);
  return comm_.health().cause();
}

Status ViewQueue::drain() {
  return wait_for("waiting for calls on device queues", [this] { return idle(); });
}

Status ViewQueue::flush_sends() {
  return wait_for("waiting for sends on device queues", [this] { return !has_unsent(); });
}

bool ViewQueue::has_unsent() {
  if (idle() || !progress_lock_.try_lock()) return !idle();
  bool unsent = false;
  {
    const std::lock_guard lock(queues_lock_);
    for (const DeviceOperation* const message : messages_) unsent = unsent || message->unsent();
  }
  progress_lock_.unlock();
  return unsent;
}

}  // namespace tutti
