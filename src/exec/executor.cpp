// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How a call runs in the caller's thread, from its beginning to its end.
#include "exec/executor.hpp"

#include <utility>

#include "exec/operation.hpp"
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

std::unique_ptr<Journal> journal_of(const ExecutorSettings& settings, Transport& transport) {
  if (settings.context.hosts == nullptr) return nullptr;
  const auto name = [&transport](int rank) { return short_name_of(rank, transport.process(rank)); };
  return std::make_unique<Journal>(settings.context.rank, settings.context.ranks, settings.tell,
                                   name);
}

}  // namespace

Executor::Executor(const ExecutorSettings& settings, std::vector<std::unique_ptr<LaneGroup>> lanes,
                   Choose choose, Transport& transport, Health& health, WorkerPool& workers)
    : HelpedProgress(workers, *transport.bell(settings.context.rank), settings.caller_budget),
      settings_(settings),
      rank_(settings.context.rank),
      ranks_(settings.context.ranks),
      transport_(transport),
      health_(health),
      journal_(journal_of(settings, transport)),
      failed_calls_(settings_, transport, health, journal_.get(), timeout_ms_),
      shared_{transport, health, journal_.get(), failed_calls_, *this},
      plans_(with_lanes(settings.context, lanes.size()), std::move(choose)) {
  for (std::unique_ptr<LaneGroup>& group : lanes) {
    const size_t lane = queues_.size();
    Notes* const notes = transport.notes(rank_, static_cast<int>(lane));
    WaitNote* const note = notes != nullptr ? &notes->call : nullptr;
    group->note_functions_in(note);
    queues_.push_back(std::make_unique<LaneQueue>(shared_, lane, std::move(group),
                                                  WaitReporter(settings_.wait_report, note),
                                                  lane == 0 ? notes : nullptr));
  }
}

Executor::~Executor() { workers_forget_this(); }

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
    return failed_calls_.broke_down(call, sequence_ + 1);
  }
}

// Numbers a call that begins; false if another rank's call of that number does not match. It is
// inlined to keep small calls short.
[[gnu::always_inline]] inline bool Executor::number_call(const Call& call, const Plan& plan,
                                                         uint32_t& chain) {
  ++sequence_;
  if (journal_ != nullptr && !enter_journal(plan, chain)) [[unlikely]]
    return false;
  TUTTI_PROBE(call_enter, settings_, sequence_, call.collective, call.count, plan.element_bytes);
  return true;
}

// The part of an operation's start that can fail: finds the plan and counts the call. Nothing is
// queued yet.
Status Executor::prepare(Operation& operation) {
  const std::shared_ptr<const Plan>& plan = plans_.find(operation.call());
  if (plan == nullptr) return no_algorithm(operation.call());
  uint32_t chain = 0;
  const bool matches = number_call(operation.call(), *plan, chain);
  operation.set_plan(plan, sequence_, chain);
  return matches ? Status() : failed_calls_.fail_stopped_call(operation.call(), sequence_);
}

Status Executor::run_here(const Call& call, const Plan& plan) {
  LaneGroup& lanes = queues_.front()->lanes();
  uint32_t chain = 0;
  if (!number_call(call, plan, chain)) [[unlikely]]
    return failed_calls_.fail_stopped_call(call, sequence_);
  try {
    lanes.start(plan, 0, call, sequence_, chain);
    Advance advance = lanes.advance();
    if (advance == Advance::kDone) {
      TUTTI_PROBE(call_leave, settings_, sequence_);
      return {};
    }
    WaitEnd end = WaitEnd::kReady;
    if (advance == Advance::kBlocked) {
      TUTTI_PROBE(wait_begin, settings_, sequence_);
      end = wait_here(plan, [&] {
        advance = lanes.advance();
        return advance != Advance::kBlocked;
      });
      TUTTI_PROBE(wait_end, settings_, sequence_);
    }
    if (advance == Advance::kDone) {
      const bool is_long = call.count * plan.element_bytes >= kLongBytes;
      if (is_long || queues_.front()->wait_reporter().was_reported()) lanes.note_end();
      TUTTI_PROBE(call_leave, settings_, sequence_);
      return {};
    }
    return failed_calls_.give_up(lanes, call, sequence_, advance, end);
  } catch (...) {
    return failed_calls_.broke_down(lanes, call, sequence_);
  }
}

// Enters the call in the journal and in the notes; returns as number_call(). The call has its
// number already, which callers would not know from an exception.
bool Executor::enter_journal(const Plan& plan, uint32_t& chain) {
  try {
    const Status status = journal_->enter(plan.record_of(sequence_), plan.signature, chain);
    if (!status.ok()) health_.fail(status);
    if (RecordLine* const noted = noted_call(sequence_)) noted->begin(plan.record_of(sequence_));
    return status.ok();
  } catch (...) {
    health_.fail_by_exception("comparing calls");
    return false;
  }
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
  Waiter waiter = health_.waiter(settings_.caller_budget, settings_.polls, timeout_ms());
  waiter.slow = &reported;
  const WaitEnd end = wait_until(waiter, ready);
  if (end != WaitEnd::kReady || journal_ == nullptr) return end;
  RecordLine* const noted = noted_call(sequence_);
  if (noted != nullptr && noted->record.sequence == sequence_) noted->end();
  return end;
}

// The end of a call that the failed communicator does not begin. It is noted, for who looks from
// outside, if it is the first that the failure ends: ranks may have failed because their calls
// differ from it.
Status Executor::refuse(const Call& call) {
  const uint64_t sequence = sequence_ + 1;
  RecordLine* const noted = health_.has_ended_a_call() ? nullptr : noted_call(sequence);
  if (noted != nullptr && noted->record.sequence != sequence) {
    noted->begin(record_of(call, sequence, digest_of(call)));
    noted->end();
  }
  return failed_calls_.fail_stopped_call(call, sequence);
}

void Executor::heard(int peer, std::span<const std::byte> message) {
  if (const Status status = journal_->heard(peer, message); !status.ok()) health_.fail(status);
}

}  // namespace tutti
