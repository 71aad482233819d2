// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How a call runs from its beginning to its end: at once in the caller's thread, or from a queue.
#include "exec/executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/caught.hpp"
#include "core/tuned.hpp"
#include "transports/names.hpp"

namespace tutti {
namespace {

Status no_algorithm(const Call& call) {
  return Status::format(Code::kUnsupported, "no algorithm for {} applies here",
                        describe(record_of(call, 0)));
}

// From here on a call that has waited at all says when it ended. When shorter ones end is nearly
// when the last rank enters.
constexpr uint64_t kLongBytes = 64 << 10;

// What is started is begun at once by the thread that starts it if the blocks of all ranks are not
// longer together: in no longer than it takes to wake a worker.
constexpr uint64_t kMostBytesAtOnce = tuned::kMostBegunAtOnce;

// The cache of plans is emptied when it holds more: about 6 MB.
constexpr size_t kMostCachedSteps = 100'000;

// Whether all of it may be done at once by the thread that starts it.
bool is_brief(const Plan& plan, uint64_t count, int ranks) {
  const uint64_t by_each_rank = count * plan.element_bytes;
  return plan.parts.size() == 1 && by_each_rank * static_cast<uint64_t>(ranks) <= kMostBytesAtOnce;
}

}  // namespace

Executor::Executor(const ExecutorSettings& settings, std::vector<std::unique_ptr<LaneGroup>> lanes,
                   Choose choose, Transport& transport, Health& health, WorkerPool& workers)
    : HelpedProgress(workers),
      settings_(settings),
      choose_(std::move(choose)),
      transport_(transport),
      health_(health),
      journal_(settings.hosts == nullptr
                   ? nullptr
                   : std::make_unique<Journal>(
                         settings.rank, settings.ranks, settings.tell, [&transport](int rank) {
                           return short_name_of(rank, transport.process(rank));
                         })) {
  for (std::unique_ptr<LaneGroup>& group : lanes) {
    Notes* const notes = transport.notes(settings.rank, static_cast<int>(lanes_.size()));
    lanes_.push_back(std::make_unique<LaneQueue>(
        *this, std::move(group),
        Lateness(settings_.lateness, notes != nullptr ? &notes->call : nullptr)));
  }
}

Executor::~Executor() { workers_.forget(*this); }

// ---- calls -------------------------------------------------------------------------------------

Status Executor::run(const Call& call) {
  if (health_.stopped()) return why_stopped(call, sequence_ + 1);
  try {
    const std::shared_ptr<const Plan>& plan = plan_for(call);
    if (plan == nullptr) [[unlikely]]
      return no_algorithm(call);
    if (outstanding_.load(std::memory_order_acquire) == 0 && plan->parts.size() == 1) {
      return run_here(call, *plan);
    }
    return run_queued(call);
  } catch (...) {
    return broke_down(call, sequence_ + 1);
  }
}

Status Executor::run_here(const Call& call, const Plan& plan) {
  LaneGroup& lane = lanes_.front()->lanes();
  ++sequence_;
  uint32_t chain = 0;
  if (journal_ != nullptr && !enter(plan, chain)) [[unlikely]]
    return why_stopped(call, sequence_);
  try {
    lane.start(plan, 0, call, sequence_, chain);
    Advance advance = lane.advance();
    if (advance == Advance::kDone) return {};
    WaitEnd end = WaitEnd::kReady;
    if (advance == Advance::kBlocked) {
      end = wait_here(plan, [&] {
        advance = lane.advance();
        return advance != Advance::kBlocked;
      });
    }
    if (advance == Advance::kDone) {
      const bool is_long = call.count * plan.element_bytes >= kLongBytes;
      if (is_long || lanes_.front()->lateness().lasted()) lane.note_end();
      return {};
    }
    return give_up(lane, call, sequence_, advance, end);
  } catch (...) {
    return broke_down(lane, call, sequence_);
  }
}

// False if it turns out that another rank's call of that number does not match.
bool Executor::enter(const Plan& plan, uint32_t& chain) {
  const Status status = journal_->enter(plan.record_of(sequence_), plan.signature, chain);
  if (!status.ok()) health_.fail(status);
  if (Notes* const notes = transport_.notes(settings_.rank, 0); notes != nullptr) {
    notes->far_calls[sequence_ % kFarCalls].post({plan.record_of(sequence_), stamp_now()});
  }
  return status.ok();
}

template <typename Ready>
WaitEnd Executor::wait_here(const Plan& plan, const Ready& ready) {
  LaneGroup& lanes = lanes_.front()->lanes();
  const AwaitingCall call(lanes, plan.record_of(sequence_), transport_, journal_.get());
  Lasting lasting(lanes_.front()->lateness(), call);
  Waiter waiter = this->waiter(settings_.caller_budget);
  waiter.slow = &lasting;
  if (journal_ == nullptr) return wait_until(waiter, ready);
  int64_t left_ms = waiter.timeout_ms;
  for (;;) {
    waiter.timeout_ms = std::min(left_ms, Operation::kTellAfterMs);
    const WaitEnd end = wait_until(waiter, ready);
    if (end != WaitEnd::kDeadline || left_ms <= Operation::kTellAfterMs) return end;
    tell_awaited(lanes, sequence_);
    if (left_ms != kNever) left_ms -= Operation::kTellAfterMs;
  }
}

void Executor::tell_awaited(const LaneGroup& lanes, uint64_t sequence) {
  lanes.for_each_awaited([&](int rank) { journal_->wait_for(rank, sequence); });
}

void Executor::tell_awaited(Operation& operation, const LaneGroup& lanes) {
  operation.tell_ms_ = rough_deadline_ms(Operation::kTellAfterMs);
  tell_awaited(lanes, operation.sequence_);
}

void Executor::heard(int peer, std::span<const std::byte> note) {
  if (const Status status = journal_->heard(peer, note); !status.ok()) health_.fail(status);
}

Status Executor::run_queued(const Call& call) {
  Operation operation(*this, call);
  TUTTI_RETURN_IF_ERROR(submit(operation, StartedFor::kCaller));
  return wait(operation, kNever);
}

// What can fail of a start; nothing is queued yet.
Status Executor::prepare(Operation& operation) {
  operation.plan_ = plan_for(operation.call_);
  if (operation.plan_ == nullptr) return no_algorithm(operation.call_);
  ++sequence_;
  if (journal_ != nullptr && !enter(*operation.plan_, operation.chain_)) {
    return why_stopped(operation.call_, sequence_);
  }
  operation.sequence_ = sequence_;
  return {};
}

Status Executor::submit(Operation& operation, StartedFor whom) {
  if (health_.stopped()) return why_stopped(operation.call_, sequence_ + 1);
  starts();
  const bool listened_to = operation.reset();
  try {
    TUTTI_RETURN_IF_ERROR(prepare(operation));
  } catch (...) {
    return broke_down(operation.call_, sequence_ + 1);
  }
  const bool brief = is_brief(*operation.plan_, operation.call_.count, settings_.ranks);
  const bool begun = brief && outstanding_.load(std::memory_order_acquire) == 0;
  if (begun && ends_at_once(operation)) return {};
  operation.begins(timeout_ms(), journal_ != nullptr);
  const size_t parts = operation.plan_->parts.size();
  operation.parts_left_.store(parts, std::memory_order_relaxed);
  outstanding_.fetch_add(1, std::memory_order_relaxed);
  // From the last push on, the operation may end and be gone.
  for (size_t lane = 0; lane < parts; ++lane) {
    if (lanes_[lane]->push(operation, begun)) continue;
    health_.fail(out_of_memory());
    if (begun) lanes_[lane]->lanes().abandon();
    part_ended(operation, out_of_memory());
  }
  for (size_t lane = 1; lane < parts; ++lane) wake(static_cast<int>(lane));
  if (whom == StartedFor::kCaller) return {};
  if (brief && !begun) lanes_.front()->drive(0);
  started(listened_to);
  return {};
}

// Begins an operation while no other is outstanding; whether that was all.
bool Executor::ends_at_once(Operation& operation) {
  LaneGroup& lane = lanes_.front()->lanes();
  Status status;
  try {
    lane.start(*operation.plan_, 0, operation.call_, operation.sequence_, operation.chain_);
    const Advance advance = lane.advance();
    if (advance == Advance::kBlocked) return false;
    if (advance == Advance::kFailed) {
      status = give_up(lane, operation.call_, operation.sequence_, advance, WaitEnd::kReady);
    }
  } catch (...) {
    status = broke_down(lane, operation.call_, operation.sequence_);
  }
  operation.complete_at_once(std::move(status));
  return true;
}

Status Executor::wait(Operation& operation, int64_t timeout_ms) {
  if (operation.done() || ends_soon(operation, settings_.caller_budget)) {
    return operation.status();
  }
  // Other workers than the first, which leaves its lane to this thread, may want the core.
  const bool alone = lanes_.size() == 1 && !workers_.busy();
  Waiter waiter = this->waiter(alone ? settings_.caller_budget : settings_.worker_budget);
  waiter.timeout_ms = timeout_ms;
  // Whoever drives the operation ends it when the communicator stops, so do not stop here.
  waiter.stop = nullptr;
  waiter.shared_stop = nullptr;
  const WaitEnd end = help_until_done(operation, waiter);
  if (end == WaitEnd::kReady) return operation.status();
  if (end == WaitEnd::kInterrupted) return see_to_end_of(operation, waiter);
  return Status::format(Code::kTimeout, "{} is not complete after {} ms",
                        describe(record_of(operation.call_, operation.sequence_)), timeout_ms);
}

// The user waits no longer for an operation whose buffers may not be touched from then on.
Status Executor::see_to_end_of(Operation& operation, Waiter waiter) {
  health_.interrupt(describe(record_of(operation.call_, operation.sequence_)));
  waiter.timeout_ms = kNever;
  waiter.uninterrupted = true;
  (void)help_until_done(operation, waiter);
  if (!operation.status().ok()) return operation.status();
  return why_stopped(operation.call_, operation.sequence_);
}

void Executor::help() {
  for (size_t lane = 0; lane < lanes_.size(); ++lane) lanes_[lane]->drive(lane);
}

Status Executor::drain() {
  Waiter waiter = this->waiter(settings_.caller_budget);
  waiter.stop = nullptr;
  waiter.shared_stop = nullptr;
  const auto nothing_left = [&] {
    help();
    return outstanding_.load(std::memory_order_acquire) == 0;
  };
  WaitEnd end = wait_until(waiter, nothing_left);
  if (end == WaitEnd::kReady) return {};
  if (end == WaitEnd::kInterrupted) {
    health_.interrupt("destroying it");
    waiter.timeout_ms = kNever;
    waiter.uninterrupted = true;
    (void)wait_until(waiter, nothing_left);
    return health_.cause();
  }
  return Status::format(Code::kTimeout, "{} operations are still outstanding", outstanding_.load());
}

bool Executor::has_left(int peer) {
  const Hosts* hosts = settings_.hosts;
  const LaneGroup& lanes = lanes_.front()->lanes();
  if (hosts == nullptr) return lanes.has_left(peer);
  if (hosts->host(peer) != hosts->host(settings_.rank)) return false;
  return lanes.has_left(hosts->place(peer));
}

// ---- plans -------------------------------------------------------------------------------------

const std::shared_ptr<const Plan>& Executor::plan_of_another(const Call& call) {
  const PlanKey key = plan_key(call, settings_.rank);
  if (last_plan_ != nullptr && key == last_key_) {
    last_kind_ = CallKind(call);
    last_key_.layouts = call.layouts;
    return last_plan_;
  }
  std::shared_ptr<const Plan>& plan = plans_[key];
  if (plan == nullptr) {
    plan = make_plan(call, key,
                     {.rank = settings_.rank,
                      .ranks = settings_.ranks,
                      .lanes = static_cast<int>(lanes_.size()),
                      .limits = settings_.limits,
                      .can_view = settings_.can_view,
                      .choose = &choose_,
                      .hosts = settings_.hosts,
                      .cache_domains = settings_.cache_domains,
                      .scopes = settings_.scopes});
    if (plan == nullptr) return plan;
    cached_steps_ += plan->steps();
  }
  last_kind_ = CallKind(call);
  last_key_ = key;
  last_plan_ = plan;
  if (cached_steps_ > kMostCachedSteps) {
    plans_.clear();
    cached_steps_ = 0;
  }
  return last_plan_;
}

// ---- ends --------------------------------------------------------------------------------------

void Executor::part_ended(Operation& operation, const Status& status) {
  if (!status.ok()) {
    const std::lock_guard lock(operation.error_lock_);
    if (operation.first_error_.ok()) operation.first_error_ = status;
  }
  if (operation.parts_left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  Status first_error;
  std::swap(first_error, operation.first_error_);
  operation.complete(std::move(first_error));
  // A thread of this process may sleep until this moment.
  ring_after_store(*transport_.bell(settings_.rank), settings_.caller_budget);
  outstanding_.fetch_sub(1, std::memory_order_release);
}

// ---- workers -----------------------------------------------------------------------------------

bool Executor::drive(int worker) {
  if (!needs(worker)) return false;
  const auto lane = static_cast<size_t>(worker);
  bool ended = false;
  while (lanes_[lane]->drive(lane)) ended = true;
  return ended;
}

void Executor::lacks_worker(const Status& why) { health_.lack(why); }

bool Executor::has_work(int worker) const { return !lanes_[static_cast<size_t>(worker)]->empty(); }

Waiter Executor::waiter() const {
  Waiter waiter = this->waiter(settings_.worker_budget);
  // A worker waits for whatever comes first, and looks at every operation's own deadline.
  waiter.timeout_ms = kNever;
  return waiter;
}

Waiter Executor::waiter(const SpinBudget& budget) const {
  Waiter waiter{.bell = transport_.bell(settings_.rank),
                .sleepers = transport_.sleepers(),
                .budget = &budget,
                .timeout_ms = timeout_ms(),
                .polls = settings_.polls};
  health_.attach(waiter);
  return waiter;
}

}  // namespace tutti
