// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How a call runs from its beginning to its end: at once in the caller's thread, or from a queue.
#include "exec/executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/caught.hpp"
#include "core/tuned.hpp"
#include "exec/probes.hpp"
#include "transports/names.hpp"

namespace tutti {
namespace {

Status no_algorithm(const Call& call) {
  return Status::format(Code::kUnsupported, "no algorithm for {} applies here",
                        describe(record_of(call, 0)));
}

// The length from which on a call that had to wait notes when it ended. A shorter one ends when
// the last rank enters, very nearly.
constexpr uint64_t kLongBytes = 64 << 10;

PlanContext with_lanes(PlanContext context, size_t lanes) {
  context.lanes = static_cast<int>(lanes);
  return context;
}

// Whether the thread that starts an operation also begins it. If the blocks of all ranks together
// are short, that takes no longer than to wake a worker.
bool is_brief(const Plan& plan, uint64_t count, int ranks) {
  const uint64_t by_each_rank = count * plan.element_bytes;
  return plan.lanes.size() == 1 &&
         by_each_rank * static_cast<uint64_t>(ranks) <= tuned::kMostBegunAtOnce;
}

}  // namespace

Executor::Executor(const ExecutorSettings& settings, std::vector<std::unique_ptr<LaneGroup>> lanes,
                   Choose choose, Transport& transport, Health& health, WorkerPool& workers)
    : HelpedProgress(workers),
      settings_(settings),
      rank_(settings.context.rank),
      ranks_(settings.context.ranks),
      transport_(transport),
      health_(health),
      journal_(settings.context.hosts == nullptr
                   ? nullptr
                   : std::make_unique<Journal>(rank_, ranks_, settings.tell,
                                               [&transport](int rank) {
                                                 return short_name_of(rank,
                                                                      transport.process(rank));
                                               })),
      plans_(with_lanes(settings.context, lanes.size()), std::move(choose)) {
  for (std::unique_ptr<LaneGroup>& group : lanes) {
    const size_t lane = queues_.size();
    Notes* const notes = transport.notes(rank_, static_cast<int>(lane));
    WaitNote* const note = notes != nullptr ? &notes->call : nullptr;
    group->note_functions_in(note);
    queues_.push_back(std::make_unique<LaneQueue>(*this, lane, std::move(group),
                                                  WaitReporter(settings_.wait_report, note)));
  }
}

Executor::~Executor() { workers_.forget(*this); }

// ---- calls -------------------------------------------------------------------------------------

Status Executor::run(const Call& call) {
  if (health_.stopped()) return refuse(call);
  try {
    const std::shared_ptr<const Plan>& plan = plans_.find(call);
    if (plan == nullptr) [[unlikely]]
      return no_algorithm(call);
    if (idle() && plan->lanes.size() == 1) {
      return run_here(call, *plan);
    }
    return run_queued(call);
  } catch (...) {
    return broke_down(call, sequence_ + 1);
  }
}

// Numbers a call that begins; false if another rank's call of that number does not match.
// The choice of what is inlined makes small calls shorter (docs/notes/15).
[[gnu::always_inline]] inline bool Executor::number_call(const Call& call, const Plan& plan,
                                                         uint32_t& chain) {
  ++sequence_;
  if (journal_ != nullptr && !enter_journal(plan, chain)) [[unlikely]]
    return false;
  TUTTI_PROBE(call_enter, settings_, sequence_, call.collective, call.count, plan.element_bytes);
  return true;
}

Status Executor::run_here(const Call& call, const Plan& plan) {
  LaneGroup& lane = queues_.front()->lanes();
  uint32_t chain = 0;
  if (!number_call(call, plan, chain)) [[unlikely]]
    return why_stopped(call, sequence_);
  try {
    lane.start(plan, 0, call, sequence_, chain);
    Advance advance = lane.advance();
    if (advance == Advance::kDone) {
      TUTTI_PROBE(call_leave, settings_, sequence_);
      return {};
    }
    WaitEnd end = WaitEnd::kReady;
    if (advance == Advance::kBlocked) {
      TUTTI_PROBE(wait_begin, settings_, sequence_);
      end = wait_here(plan, [&] {
        advance = lane.advance();
        return advance != Advance::kBlocked;
      });
      TUTTI_PROBE(wait_end, settings_, sequence_);
    }
    if (advance == Advance::kDone) {
      const bool is_long = call.count * plan.element_bytes >= kLongBytes;
      if (is_long || queues_.front()->wait_reporter().was_reported()) lane.note_end();
      TUTTI_PROBE(call_leave, settings_, sequence_);
      return {};
    }
    return give_up(lane, call, sequence_, advance, end);
  } catch (...) {
    return broke_down(lane, call, sequence_);
  }
}

// Enters the call in the journal and in the notes; returns as number_call().
bool Executor::enter_journal(const Plan& plan, uint32_t& chain) {
  const Status status = journal_->enter(plan.record_of(sequence_), plan.signature, chain);
  if (!status.ok()) health_.fail(status);
  if (RecordLine* const noted = noted_call(sequence_)) noted->begin(plan.record_of(sequence_));
  return status.ok();
}

// The place of a call of that number among those that are noted; null if there is none.
RecordLine* Executor::noted_call(uint64_t sequence) {
  Notes* const notes = transport_.notes(rank_, 0);
  return notes == nullptr ? nullptr : &notes->calls[sequence % kNotedCalls];
}

template <typename Ready>
WaitEnd Executor::wait_here(const Plan& plan, const Ready& ready) {
  LaneGroup& lanes = queues_.front()->lanes();
  const PendingCall call(lanes, plan.record_of(sequence_), transport_, journal_.get());
  ReportedWait reported(queues_.front()->wait_reporter(), call);
  Waiter waiter = waiter_with(settings_.caller_budget);
  waiter.slow = &reported;
  const WaitEnd end = wait_until(waiter, ready);
  if (end != WaitEnd::kReady || journal_ == nullptr) return end;
  RecordLine* const noted = noted_call(sequence_);
  if (noted != nullptr && noted->record.sequence == sequence_) noted->end();
  return end;
}

void Executor::heard(int peer, std::span<const std::byte> note) {
  if (const Status status = journal_->heard(peer, note); !status.ok()) health_.fail(status);
}

Status Executor::run_queued(const Call& call) {
  Operation operation(*this, call);
  TUTTI_RETURN_IF_ERROR(submit(operation, StartedFor::kCaller));
  return wait(operation, kNever);
}

// The part of a start that can fail: finds the plan and counts the call. Nothing is queued yet.
Status Executor::prepare(Operation& operation) {
  operation.plan_ = plans_.find(operation.call_);
  if (operation.plan_ == nullptr) return no_algorithm(operation.call_);
  const bool matches = number_call(operation.call_, *operation.plan_, operation.chain_);
  operation.sequence_ = sequence_;
  return matches ? Status() : why_stopped(operation.call_, sequence_);
}

Status Executor::submit(Operation& operation, StartedFor whom) {
  if (health_.stopped()) return refuse(operation.call_);
  application_calls();
  const bool has_callback = operation.reset();
  try {
    TUTTI_RETURN_IF_ERROR(prepare(operation));
  } catch (...) {
    return broke_down(operation.call_, sequence_ + 1);
  }
  // A brief operation is begun by the thread that starts it: at once if it is the only one, else if
  // it is its turn.
  const bool brief = is_brief(*operation.plan_, operation.call_.count, ranks_);
  const bool alone = brief && idle();
  if (alone && ends_at_once(operation)) return {};
  queue(operation, alone);
  if (whom == StartedFor::kCaller) return {};
  if (brief && !alone) queues_.front()->drive();
  after_start(has_callback);
  return {};
}

// Queues its parts; `begun`: the first lane runs it already. The operation may end and be gone.
void Executor::queue(Operation& operation, bool begun) {
  operation.begins(timeout_ms());
  const size_t parts = operation.plan_->lanes.size();
  operation.parts_left_.store(parts, std::memory_order_relaxed);
  outstanding_.fetch_add(1, std::memory_order_relaxed);
  for (size_t lane = 0; lane < parts; ++lane) {
    if (queues_[lane]->push(operation, begun)) continue;
    health_.fail(out_of_memory());
    if (begun) queues_[lane]->lanes().abandon();
    part_ended(operation, out_of_memory());
  }
  for (size_t lane = 1; lane < parts; ++lane) wake(static_cast<int>(lane));
}

// Begins an operation while no other is outstanding; returns whether it ended at once.
bool Executor::ends_at_once(Operation& operation) {
  LaneGroup& lane = queues_.front()->lanes();
  Status status;
  try {
    lane.start(*operation.plan_, 0, operation.call_, operation.sequence_, operation.chain_);
    const Advance advance = lane.advance();
    if (advance == Advance::kBlocked) return false;
    if (advance == Advance::kFailed) {
      status = give_up(lane, operation.call_, operation.sequence_, advance, WaitEnd::kReady);
    } else {
      TUTTI_PROBE(call_leave, settings_, operation.sequence_);
    }
  } catch (...) {
    status = broke_down(lane, operation.call_, operation.sequence_);
  }
  operation.complete_at_once(std::move(status));
  return true;
}

void Executor::help() {
  for (const auto& queue : queues_) queue->drive();
}

// ---- ends --------------------------------------------------------------------------------------

void Executor::part_ended(Operation& operation, const Status& status) {
  if (!status.ok()) {
    const std::lock_guard lock(operation.error_lock_);
    if (operation.first_error_.ok()) operation.first_error_ = status;
  }
  if (operation.parts_left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (operation.first_error_.ok()) {
    TUTTI_PROBE(call_leave, settings_, operation.sequence_);
  }
  Status first_error;
  std::swap(first_error, operation.first_error_);
  const bool over = operation.complete(std::move(first_error));
  // A thread of this process may sleep until this moment.
  ring_after_store(*transport_.bell(rank_), settings_.caller_budget);
  if (over) one_is_over();
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
