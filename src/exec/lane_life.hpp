// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The life of a call on a lane: it starts, begins, enters, waits for peers and ends.
#pragma once

#include <utility>

#include "core/clock.hpp"
#include "core/tuned.hpp"
#include "exec/lane.hpp"

namespace tutti {

template <typename Parts>
BasicLane<Parts>::BasicLane(LaneSettings settings, Transport& transport,
                            std::unique_ptr<Window> window, std::unique_ptr<Endpoint> endpoint,
                            const Parts& parts)
    : rank_(settings.rank),
      ranks_(settings.ranks),
      transport_(transport),
      names_(transport, std::move(settings.numbers)),
      window_(std::move(window)),
      endpoint_(std::move(endpoint)),
      log_(parts.log(rank_, window_ == nullptr ? std::span<const Window::Rank>() : window_->ranks(),
                     settings.oversubscribed)),
      slots_(parts.slots(window_.get(), settings.oversubscribed)),
      addresses_(rank_, window_.get()),
      staging_(rank_, ranks_, settings.staging),
      trials_(rank_),
      engine_(parts.engine()),
      messages_(*endpoint_),
      reader_(transport, window_.get(), names_) {}

// ---- the beginning -----------------------------------------------------------------------------

template <typename Parts>
void BasicLane<Parts>::start(const Plan& plan, const ScheduledPlan& part, const Call& call,
                             const CallRecord& record, uint32_t chain) {
  plan_ = &plan;
  part_ = &part;
  arguments_ = &call;
  if (!part_->other_arms.empty()) [[unlikely]]
    start_trial();
  log_.start(plan.signature);
  next_ = 0;
  next_peer_ = 0;
  record_ = record;
  begun_ = !log_.is_shared();
  if (part_->traits.sends_messages) messages_.start(log_.call(), chained(chain, plan.signature));
  bind(call);
  staging_.start(part_->traits, log_);
}

template <typename Parts>
[[gnu::noinline]] void BasicLane<Parts>::start_trial() {
  const Arms& arms = plan_->arms;
  const size_t arm = trials_.start(arms, block_bytes(), trials_.decides(arms) ? now_s() : 0);
  if (arm > 0) part_ = part_->other_arms[arm - 1].get();
}

template <typename Parts>
void BasicLane<Parts>::bind(const Call& call) {
  std::byte* send = engine_.start(call, part_->traits.most_sources, ranks_, plan_->element_bytes);
  auto* recv = static_cast<std::byte*>(call.recv);
  addresses_.set_buffers(send == nullptr ? nullptr : send + part_->offset,
                         recv == nullptr ? nullptr : recv + part_->offset);
  if (part_->schedule.scratch_bytes > 0) {
    addresses_.set_scratch(engine_.scratch(part_->schedule.scratch_bytes));
  }
  if (part_->traits.uses_lines) addresses_.set_lines(log_);
  if (part_->slot_extent > 0) place_slots();
  if (part_->traits.uses_window && status_.ok()) status_ = map_windows();
}

template <typename Parts>
[[gnu::noinline]] Status BasicLane<Parts>::map_windows() {
  Status mapped = addresses_.map_windows();
  return mapped.ok() && part_->traits.writes_window ? window_->reserve_staging() : mapped;
}

template <typename Parts>
void BasicLane<Parts>::place_slots() {
  const uint64_t extent = part_->slot_extent;
  if (part_->ping_pong_slots) {
    // There is nothing to wait for. This rank has read what the peer wrote there; and the peer had
    // ended the call before when this rank saw it in that call.
    if (slots_.must_grow_ping_pong(extent)) status_ = slots_.grow_ping_pong(extent);
    if (status_.ok()) addresses_.set_ping_pong_slots(slots_.swap());
    return;
  }
  const SlotAllocator::SizeClass size_class = slots_.size_class_of(extent);
  const bool writes = part_->traits.slot_written > 0;
  if (slots_.must_grow(size_class, writes)) [[unlikely]] {
    status_ = slots_.grow(size_class, writes, log_.call());
    if (!status_.ok()) return;
  }
  const uint64_t at = slots_.place(log_.call(), extent, size_class);
  addresses_.set_slots(log_.call() & 1, at);
  if (writes) log_.begin_after(slots_.begins_after(log_, extent, size_class, at));
}

// Called until it returns true, which begins the call.
template <typename Parts>
bool BasicLane<Parts>::begin() {
  if (!log_.may_begin(part_->traits.slot_written == 0)) {
    return log_.fault() == CallLog::Fault::kNone ? false : fail(faults().of_log());
  }
  begun_ = true;
  // A schedule of messages alone does not enter the call; a peer that chose shared memory by
  // mistake must see our signature all the same.
  if (!part_->traits.enters) enter();
  return true;
}

template <typename Parts>
Advance BasicLane<Parts>::advance(size_t stop) {
  if (!status_.ok()) return Advance::kFailed;
  if (!begun_ && !begin()) return status_.ok() ? Advance::kBlocked : Advance::kFailed;
  bool through = window_ == nullptr || part_->traits.enters || all_entered();
  const size_t first = next_;
  while (through && next_ < stop && next_ < part_->schedule.steps.size()) {
    through = run(part_->schedule.steps[next_]);
  }
  const bool needs_nobody = window_ == nullptr || part_->traits.runs_ahead;
  if (through && next_ < stop && sends_done() && (needs_nobody || all_entered()) &&
      was_not_stopped()) {
    finish();
    return Advance::kDone;
  }
  if (next_ != first) note_move();
  if (messages_.sends()) messages_.poll();
  // Its buffers are shown, so it is not through before all peers are.
  if (part_->schedule.exports_buffers) window_->serve_fallback_copy();
  if (trials_.runs() && trials_.decides(plan_->arms)) {
    trials_.waits(next_ <= part_->traits.first_wait, now_s());
  }
  return status_.ok() ? Advance::kBlocked : Advance::kFailed;
}

// Returns whether the lane has gone on, past this step and what runs with it, or to another
// schedule (go_on_viewing). If not, the step is run again later.
template <typename Parts>
bool BasicLane<Parts>::run(const Step& step) {
  switch (step.kind) {
    case StepKind::kPull:
      if (!part_->views) return pull(step);
      [[fallthrough]];
    case StepKind::kCopy: return copy(step, addresses_.of(step.src));
    case StepKind::kReduce: return reduce(step);
    case StepKind::kWriteHead: engine_.put(addresses_.of(step.dst), BlockHead{step.bytes}); break;
    case StepKind::kExpect:
      if (!expect(step)) return false;
      break;
    case StepKind::kPublish: publish(step.tick); break;
    case StepKind::kAwait:
      if (!arrived(step)) return false;
      if (part_->viewing != nullptr && step.peer == kAllPeers && addresses_.sees_all_buffers()) {
        return go_on_viewing();
      }
      break;
    case StepKind::kSend: messages_.send(step.peer, addresses_.of(step.src), step.bytes); break;
    case StepKind::kRecv:
      if (!receive(step)) return false;
      break;
    case StepKind::kFence:
      if (!sends_done()) return false;
      break;
  }
  ++next_;
  return true;
}

// ---- the end -----------------------------------------------------------------------------------

// A peer that has given the call up may have changed its buffers since. It stopped the communicator
// before that, so if that is not stopped now, what was read is what the peer gave.
template <typename Parts>
bool BasicLane<Parts>::was_not_stopped() {
  if (!part_->schedule.exports_buffers) return true;
  std::atomic_thread_fence(std::memory_order_acquire);
  if (transport_.recovery().shared_state()->stop.load(std::memory_order_acquire) == 0) return true;
  return fail({Code::kAborted, "the communicator was stopped during the call"});
}

template <typename Parts>
[[gnu::noinline]] void BasicLane<Parts>::finish_trial() {
  const uint64_t bytes = block_bytes();
  // Calls move through slots, so these are cold after others; ping-pong slots are not.
  const bool moves = bytes <= slots_.slot_bytes() && !plan_->scheduled()->ping_pong_slots;
  const CallTrials::Ended ended = {
      .collective = arguments_->collective,
      .call = log_.call(),
      .block_bytes = bytes,
      .ranks = ranks_,
      .reads_peers = part_->schedule.exports_buffers,
      .uses_slots = moves,
      .slots_are_new = part_->slot_extent > 0 && slots_.is_new(log_.call()),
      .at_s = trials_.is_timed() ? now_s() : 0};
  const std::byte* payload = log_.line_of(plan_->arms.coordinator, log_.call()).payload;
  trials_.finish(plan_->arms, ended, payload + kBufferAddressesBytes);
}

template <typename Parts>
void BasicLane<Parts>::finish() {
  if (trials_.runs()) [[unlikely]]
    finish_trial();
  log_.finish(part_->schedule.ticks);
  plan_ = nullptr;
  part_ = nullptr;
  arguments_ = nullptr;
  engine_.finish();
}

template <typename Parts>
void BasicLane<Parts>::abandon() {
  if (part_ == nullptr) return;
  messages_.cancel();
  trials_.abandon();
  finish();
}

template <typename Parts>
void BasicLane<Parts>::leave(std::span<const std::byte> last_words) {
  endpoint_->leave(last_words);
  if (window_ == nullptr) return;
  log_.depart();
  transport_.notify();
  // At least one of two ranks that leave at the same time sees all of the other's.
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace tutti
