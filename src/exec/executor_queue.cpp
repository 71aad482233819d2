// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Calls that are queued to lanes: how they start, who drives them, and how threads wait for them.
#include <mutex>
#include <utility>

#include "core/caught.hpp"
#include "exec/operation.hpp"

namespace tutti {
namespace {

// How long an operation that was started waits before shared memory says that it does.
constexpr int64_t kLongAfterMs = 20;
// Copying so many bytes takes about as long as waking a worker.
constexpr uint64_t kMostBegunAtOnce = 64 << 10;

// Whether the thread that starts an operation also begins it. If the blocks of all ranks together
// are short, that takes no longer than to wake a worker.
bool is_brief(const Plan& plan, uint64_t count, int ranks) {
  const uint64_t by_each_rank = count * plan.element_bytes;
  return plan.lanes.size() == 1 && by_each_rank * static_cast<uint64_t>(ranks) <= kMostBegunAtOnce;
}

}  // namespace

// ---- operations --------------------------------------------------------------------------------

Status Operation::start(StartedFor whom) { return executor_.submit(*this, whom); }
Status Operation::wait_inside(int64_t timeout_ms) { return executor_.wait(*this, timeout_ms); }

void Operation::begin_lane_plans(int64_t timeout_ms) {
  const int64_t now_ms = rough_ms();
  deadline_ms_ = rough_deadline_ms(timeout_ms, now_ms);
  long_from_ms_ = rough_deadline_ms(kLongAfterMs, now_ms);
  awaited_ms_.store(kNever, std::memory_order_relaxed);
  lanes_left_.store(plan_->lanes.size(), std::memory_order_relaxed);
}

void Operation::end_lane_plan(const Status& status) {
  if (!status.ok()) {
    const std::lock_guard lock(error_lock_);
    if (first_error_.ok()) first_error_ = status;
  }
  if (lanes_left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (first_error_.ok()) {
    TUTTI_PROBE(call_leave, executor_.settings(), sequence_);
  }
  Status first_error;
  std::swap(first_error, first_error_);
  complete(std::move(first_error));
}

// ---- starting ----------------------------------------------------------------------------------

Status Executor::run_queued(const Call& call) {
  Operation operation(*this, call);
  TUTTI_RETURN_IF_ERROR(submit(operation, StartedFor::kCaller));
  return wait(operation, kNever);
}

Status Executor::submit(Operation& operation, StartedFor whom) {
  if (health_.stopped()) return refuse(operation.call());
  application_calls();
  const bool has_callback = operation.activate();
  try {
    TUTTI_RETURN_IF_ERROR(prepare(operation));
  } catch (...) {
    return failed_calls_.broke_down(operation.call(), sequence_ + 1);
  }
  // A brief operation is begun by the thread that starts it: at once if it is the only one, else if
  // it is its turn.
  const bool brief = is_brief(operation.plan(), operation.call().count, ranks_);
  const bool alone = brief && idle();
  if (alone && try_at_once(operation)) return {};
  queue(operation, alone);
  if (whom == StartedFor::kCaller) return {};
  if (brief && !alone) queues_.front()->drive();
  after_start(has_callback);
  return {};
}

// Queues its lane plans; `started`: the first lane runs it already. The operation may end and be
// gone.
void Executor::queue(Operation& operation, bool started) {
  operation.begin_lane_plans(timeout_ms());
  const size_t lanes = operation.plan().lanes.size();
  one_begins();
  for (size_t lane = 0; lane < lanes; ++lane) {
    if (queues_[lane]->push(operation, started)) continue;
    health_.fail(out_of_memory());
    if (started) queues_[lane]->lanes().abandon();
    operation.end_lane_plan(out_of_memory());
  }
  for (size_t lane = 1; lane < lanes; ++lane) wake(static_cast<int>(lane));
}

// Begins an operation while no other is outstanding; returns whether it ended at once.
bool Executor::try_at_once(Operation& operation) {
  LaneGroup& lanes = queues_.front()->lanes();
  Status status;
  try {
    lanes.start(operation.plan(), 0, operation.call(), operation.sequence(), operation.chain());
    const Advance advance = lanes.advance();
    if (advance == Advance::kBlocked) return false;
    if (advance == Advance::kFailed) {
      status = failed_calls_.give_up(lanes, operation.call(), operation.sequence(), advance,
                                     WaitEnd::kReady);
    } else {
      TUTTI_PROBE(call_leave, settings_, operation.sequence());
    }
  } catch (...) {
    status = failed_calls_.broke_down(lanes, operation.call(), operation.sequence());
  }
  operation.complete_at_once(std::move(status));
  return true;
}

void Executor::help() {
  for (const auto& queue : queues_) queue->drive();
}

// ---- waiting -----------------------------------------------------------------------------------

Status Executor::wait(Operation& operation, int64_t timeout_ms) {
  if (poll_briefly(operation)) return operation.status();
  operation.note_waiter();
  // The first worker leaves its lane to this thread; if others have work, they may want the core.
  const bool alone = queues_.size() == 1 && !workers().busy();
  const SpinBudget& budget = alone ? settings_.caller_budget : settings_.worker_budget;
  const Waiter waiter = health_.waiter_for_driven(budget, settings_.polls, timeout_ms);
  TUTTI_PROBE(wait_begin, settings_, operation.sequence());
  const auto name = [&] { return describe(record_of(operation.call(), operation.sequence())); };
  const WaitEnd end = help_to_end(operation, waiter, health_, name);
  TUTTI_PROBE(wait_end, settings_, operation.sequence());
  if (end == WaitEnd::kInterrupted && operation.status().ok()) {
    return failed_calls_.fail_stopped_call(operation.call(), operation.sequence());
  }
  if (end != WaitEnd::kDeadline) return operation.status();
  return Status::format(Code::kTimeout, "{} is not complete after {} ms", name(), timeout_ms);
}

Status Executor::drain() {
  return help_until_idle(
      health_, health_.waiter_for_driven(settings_.caller_budget, settings_.polls, timeout_ms()),
      "operations");
}

Waiter Executor::waiter() const {
  // A worker waits for whatever comes first, and looks at every operation's own deadline.
  return health_.waiter(settings_.worker_budget, settings_.polls, kNever);
}

// ---- workers -----------------------------------------------------------------------------------

bool Executor::drive(int worker) {
  if (!needs(worker)) return false;
  LaneQueue& queue = *queues_[static_cast<size_t>(worker)];
  bool ended = false;
  while (queue.drive()) ended = true;
  return ended;
}

void Executor::cannot_start_worker(const Status& why) { health_.lack(why); }

bool Executor::has_work(int worker) const { return !queues_[static_cast<size_t>(worker)]->empty(); }

}  // namespace tutti
