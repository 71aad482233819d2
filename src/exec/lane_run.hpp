// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A call on a lane, from its start to its end: it begins, enters, runs its steps, waits for peers
// and ends. What reads buffers of peers or receives messages is in lane_peers.hpp.
#pragma once

#include <utility>

#include "core/clock.hpp"
#include "exec/lane.hpp"

namespace tutti {

// ---- the beginning -----------------------------------------------------------------------------

template <typename Components>
void BasicLane<Components>::start(const Plan& plan, const LanePlan& lane_plan, const Call& call,
                                  const CallRecord& record, uint32_t chain) {
  plan_ = &plan;
  lane_plan_ = &lane_plan;
  arguments_ = &call;
  if (!lane_plan_->other_arms.empty()) [[unlikely]]
    start_trial();
  log_.start(plan.signature);
  next_ = 0;
  next_peer_ = 0;
  record_ = record;
  begun_ = !log_.is_shared();
  if (lane_plan_->traits.sends_messages)
    messages_.start(log_.call(), chained(chain, plan.signature));
  bind(call);
  // A rank that waits for nobody times its load at once. Others do so when they see that the peer
  // has entered the call: then the line is still in the caches of its writer.
  store_policy_.start(log_.call(), lane_plan_->traits.staged_bytes);
  if (store_policy_.probes() && lane_plan_->traits.first_wait == 0) [[unlikely]]
    time_load(log_.last_seen_entry(store_policy_.next_probed()));
}

template <typename Components>
void BasicLane<Components>::bind(const Call& call) {
  std::byte* send =
      engine_.start(call, lane_plan_->traits.most_sources, ranks_, plan_->element_bytes);
  auto* recv = static_cast<std::byte*>(call.recv);
  addresses_.set_buffers(send == nullptr ? nullptr : send + lane_plan_->offset,
                         recv == nullptr ? nullptr : recv + lane_plan_->offset);
  if (lane_plan_->schedule.scratch_bytes > 0) {
    addresses_.set_scratch(engine_.scratch(lane_plan_->schedule.scratch_bytes));
  }
  if (lane_plan_->traits.uses_lines) addresses_.set_lines(log_);
  if (lane_plan_->slot_extent > 0) place_slots();
  if (lane_plan_->traits.uses_window && status_.ok()) status_ = map_windows();
}

template <typename Components>
void BasicLane<Components>::place_slots() {
  const uint64_t extent = lane_plan_->slot_extent;
  if (lane_plan_->ping_pong_slots) {
    // There is nothing to wait for. This rank has read what the peer wrote there; and the peer had
    // ended the call before when this rank saw it in that call.
    if (slots_.must_grow_ping_pong(extent)) status_ = slots_.grow_ping_pong(extent);
    if (status_.ok()) addresses_.set_ping_pong_slots(slots_.swap());
    return;
  }
  const SlotAllocator::SizeClass size_class = slots_.size_class_of(extent);
  const bool writes = lane_plan_->traits.slot_written > 0;
  if (slots_.must_grow(size_class, writes)) [[unlikely]] {
    status_ = slots_.grow(size_class, writes, log_.call());
    if (!status_.ok()) return;
  }
  const uint64_t at = slots_.place(log_.call(), extent, size_class);
  addresses_.set_slots(log_.call() & 1, at);
  if (writes) log_.delay_until_entered(slots_.claim_place(log_, extent, size_class, at));
}

// Begins the call if it may; returns whether it has.
template <typename Components>
bool BasicLane<Components>::begin() {
  if (!log_.may_begin(lane_plan_->traits.slot_written == 0)) {
    return log_.fault() == CallLog::Fault::kNone ? false : fail(faults().of_log());
  }
  begun_ = true;
  // A schedule of messages alone does not enter the call; a peer that chose shared memory by
  // mistake must see our signature all the same.
  if (!lane_plan_->traits.enters) enter();
  return true;
}

template <typename Components>
Advance BasicLane<Components>::advance(size_t stop) {
  if (!status_.ok()) return Advance::kFailed;
  if (!begun_ && !begin()) return status_.ok() ? Advance::kBlocked : Advance::kFailed;
  // A schedule that never publishes was entered by begin(). Its steps need not look at any entry,
  // so all are compared before the first.
  bool through = memory_ == nullptr || lane_plan_->traits.enters || all_have_entered();
  const size_t first = next_;
  while (through && next_ < stop && next_ < lane_plan_->schedule.steps.size()) {
    through = run(lane_plan_->schedule.steps[next_]);
  }
  const bool needs_nobody = memory_ == nullptr || lane_plan_->traits.runs_ahead;
  // The end counts as one more step: with `stop` == steps.size() the call does not end yet.
  // advance(StepTrace&), which stops behind each step, asks for one more then.
  if (through && next_ < stop && sends_done() && (needs_nobody || all_have_entered()) &&
      check_not_stopped()) {
    finish();
    return Advance::kDone;
  }
  if (next_ != first) note_move();
  if (messages_.sends()) messages_.poll();
  // Peers may read its buffers, so the call is not through before all of them are.
  if (lane_plan_->schedule.exports_buffers) memory_->serve_fallback_copy();
  if (trials_.runs() && trials_.decides(plan_->arms)) {
    trials_.note_wait(next_ <= lane_plan_->traits.first_wait, now_s());
  }
  return status_.ok() ? Advance::kBlocked : Advance::kFailed;
}

// Returns whether the lane has gone on, past this step and the one that runs with it, or to another
// schedule (go_on_mapped). If not, the step is run again later.
template <typename Components>
bool BasicLane<Components>::run(const Step& step) {
  switch (step.kind) {
    case StepKind::kPull:
      if (!lane_plan_->maps_peers) {
        if (!pull(step)) return false;
        break;
      }
      [[fallthrough]];
    case StepKind::kCopy: copy(step, addresses_.of(step.src)); break;
    case StepKind::kReduce: reduce(step); break;
    case StepKind::kWriteHead: engine_.put(addresses_.of(step.dst), BlockHead{step.bytes}); break;
    case StepKind::kExpect:
      if (!expect(step)) return false;
      break;
    case StepKind::kPublish: publish(step.tick); break;
    case StepKind::kAwait:
      if (!await(step)) return false;
      if (lane_plan_->when_mapped != nullptr && step.peer == kAllPeers &&
          addresses_.sees_all_buffers()) {
        return go_on_mapped();
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
  next_ += step.with_next ? 2 : 1;
  return true;
}

// ---- entries and ticks -------------------------------------------------------------------------

template <typename Components>
void BasicLane<Components>::enter() {
  if (lane_plan_->announces) [[unlikely]] {
    std::byte* payload = log_.line_of(rank_, log_.call()).payload;
    engine_.put(payload, addresses_.own_buffers());
    if (trials_.runs() && trials_.decides(plan_->arms))
      trials_.announce(payload + kBufferAddressesBytes);
  }
  log_.enter(record_);
  transport_.notify();
  if (!lane_plan_->traits.runs_ahead) log_.take_next_line();
}

template <typename Components>
void BasicLane<Components>::publish(uint32_t tick) {
  if (tick == 1) return enter();
  log_.publish(tick);
  transport_.notify();
}

// Kept out of line, and has_published() inline, to keep small calls short.
template <typename Components>
[[gnu::noinline]] bool BasicLane<Components>::sees_tick(int peer, uint32_t tick) {
  if (log_.knows_tick(peer, tick)) return true;
  const uint32_t now = store_policy_.watches(peer)
                           ? watched_tick(peer)
                           : log_.tick_of(peer).load(std::memory_order_acquire);
  const bool there = log_.saw_tick(peer, tick, now);
  store_policy_.note_awaited(peer, there);
  return there;
}

template <typename Components>
[[gnu::always_inline]] inline bool BasicLane<Components>::has_published(int peer, uint32_t tick) {
  if (peer == rank_) return true;
  if (!has_entered(peer)) return false;
  return tick == 1 || sees_tick(peer, tick);
}

template <typename Components>
[[gnu::always_inline]] inline bool BasicLane<Components>::all_have_published(uint32_t tick) {
  for (; next_peer_ < ranks_; ++next_peer_) {
    if (!has_published(next_peer_, tick)) return false;
  }
  next_peer_ = 0;
  return true;
}

template <typename Components>
bool BasicLane<Components>::await(const Step& step) {
  const bool all = step.peer == kAllPeers;
  if (!(all ? all_have_published(step.tick) : has_published(step.peer, step.tick))) return false;
  if (store_policy_.probes() && (all || store_policy_.probes_peer(step.peer))) [[unlikely]]
    time_load(log_.call());
  return true;
}

template <typename Components>
bool BasicLane<Components>::has_entered(int peer) {
  const uint32_t call = log_.call();
  if (log_.knows_entry(peer, call)) return true;
  const CallLog::Look look = log_.look_at(peer, call);
  if (look == CallLog::Look::kNotYet) return false;
  if (look == CallLog::Look::kFault) return fail(faults().of_log());
  if (lane_plan_->has_root && !log_.has_waited()) fetch_next_of(peer);
  if (lane_plan_->schedule.exports_buffers) {
    const std::byte* payload = log_.line_of(peer, call).payload;
    addresses_.set_buffers_of(peer, engine_.template get<BufferAddresses>(payload));
  }
  return true;
}

template <typename Components>
bool BasicLane<Components>::all_have_entered() {
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer != rank_ && !has_entered(peer)) return false;
  }
  log_.note_all_entered();
  return true;
}

// ---- data --------------------------------------------------------------------------------------

// A copy or reduction is one pass over memory with the next step, where that copies the same.
template <typename Components>
void BasicLane<Components>::copy(const Step& step, const std::byte* src) {
  std::byte* const dst = addresses_.of(step.dst);
  if (!step.with_next) return engine_.copy(dst, src, step.bytes, hint_of(step));
  const Step& other = lane_plan_->schedule.steps[next_ + 1];
  engine_.copy(dst, hint_of(step), addresses_.of(other.dst), hint_of(other), src, step.bytes);
}

template <typename Components>
void BasicLane<Components>::reduce(const Step& step) {
  const Ref* refs = lane_plan_->schedule.sources.data() + step.first_source;
  const std::span<const void*> sources = engine_.sources();
  for (uint32_t i = 0; i < step.source_count; ++i) sources[i] = addresses_.of(refs[i]);
  ReduceOptions options{.divisor = step.finishes ? plan_->divisor : 0,
                        .non_temporal = is_non_temporal(step)};
  if (step.with_next) {
    const Step& copy = lane_plan_->schedule.steps[next_ + 1];
    options.copy = addresses_.of(copy.dst);
    options.copy_non_temporal = is_non_temporal(copy);
  }
  engine_.reduce(*plan_, *arguments_, record_, addresses_.of(step.dst), step.source_count,
                 step.bytes, options);
}

// ---- the end -----------------------------------------------------------------------------------

template <typename Components>
bool BasicLane<Components>::sends_done() {
  if (messages_.sends_done()) return true;
  return messages_.failed().ok() ? false : fail(messages_.failed());
}

template <typename Components>
void BasicLane<Components>::finish() {
  if (trials_.runs()) [[unlikely]]
    finish_trial();
  log_.finish(lane_plan_->schedule.ticks);
  plan_ = nullptr;
  lane_plan_ = nullptr;
  arguments_ = nullptr;
  engine_.finish();
}

}  // namespace tutti
