// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The steps of a lane: entries, ticks and the waits for those of peers; copies, reductions, reads
// of peers, messages.
#pragma once

#include <fmt/format.h>

#include "exec/lane.hpp"

namespace tutti {

// ---- entries and ticks -------------------------------------------------------------------------

template <typename Parts>
void BasicLane<Parts>::enter() {
  if (part_->announces) [[unlikely]] {
    std::byte* payload = log_.line_of(rank_, log_.call()).payload;
    engine_.put(payload, addresses_.own_buffers());
    if (trials_.runs() && trials_.decides(plan_->arms))
      trials_.announce(payload + kBufferAddressesBytes);
  }
  log_.enter(record_);
  transport_.notify();
  if (!part_->traits.runs_ahead) take_next_lines();
}

template <typename Parts>
void BasicLane<Parts>::publish(uint32_t tick) {
  if (tick == 1) return enter();
  log_.publish(tick);
  transport_.notify();
}

// The choice of what is inlined here makes small calls shorter (docs/notes/15).
template <typename Parts>
[[gnu::noinline]] bool BasicLane<Parts>::has_come_to(int peer, uint32_t tick) {
  if (log_.knows_tick(peer, tick)) return true;
  const bool there = log_.saw_tick(peer, tick, staging_.tick_of(peer, log_));
  staging_.waits_for(peer, there);
  return there;
}

template <typename Parts>
[[gnu::always_inline]] inline bool BasicLane<Parts>::arrived(int peer, uint32_t tick) {
  if (peer == rank_) return true;
  if (!entered(peer)) return false;
  return tick == 1 || has_come_to(peer, tick);
}

template <typename Parts>
[[gnu::always_inline]] inline bool BasicLane<Parts>::all_arrived(uint32_t tick) {
  for (; next_peer_ < ranks_; ++next_peer_) {
    if (!arrived(next_peer_, tick)) return false;
  }
  next_peer_ = 0;
  return true;
}

template <typename Parts>
bool BasicLane<Parts>::arrived(const Step& step) {
  const bool all = step.peer == kAllPeers;
  if (!(all ? all_arrived(step.tick) : arrived(step.peer, step.tick))) return false;
  staging_.saw(step.peer, log_);
  return true;
}

// Both schedules begin with the entry, which is done: so the other one goes on behind it.
template <typename Parts>
bool BasicLane<Parts>::go_on_viewing() {
  trials_.forget_time();
  part_ = part_->viewing.get();
  next_ = 1;
  addresses_.set_scratch(engine_.scratch(part_->schedule.scratch_bytes));
  addresses_.view_buffers();
  return true;
}

template <typename Parts>
bool BasicLane<Parts>::entered(int peer) {
  const uint32_t call = log_.call();
  if (log_.knows_entry(peer, call)) return true;
  const CallLog::Look look = log_.look_at(peer, call);
  if (look == CallLog::Look::kNotYet) return false;
  if (look == CallLog::Look::kFault) return fail(faults().of_log());
  if (part_->has_root && !log_.has_waited()) fetch_next_of(peer);
  if (part_->schedule.exports_buffers) {
    const std::byte* payload = log_.line_of(peer, call).payload;
    addresses_.set_buffers_of(peer, engine_.template get<BufferAddresses>(payload));
  }
  return true;
}

template <typename Parts>
bool BasicLane<Parts>::all_entered() {
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer != rank_ && !entered(peer)) return false;
  }
  log_.all_have_entered();
  return true;
}

// Takes the lines that the next call will write, if it is like this one, from the peers that have
// read them. They are its entry and its slot. Done while this call waits, it costs nothing. Done
// when the slot is written, it makes that slower.
template <typename Parts>
void BasicLane<Parts>::take_next_lines() {
  log_.take_next_line();
  const uint64_t written = part_->traits.slot_written;
  if (part_->ping_pong_slots || written == 0 || written > tuned::kMostTaken) return;
  if (staging_.writes_non_temporal()) return;
  const uint64_t extent = part_->slot_extent;
  const std::byte* slot = addresses_.slots_of(rank_, (log_.call() + 1) & 1) +
                          slots_.next_place(extent, slots_.size_class_of(extent));
  for (uint64_t at = 0; at < written; at += kCacheLine) prefetch_to_write(slot + at);
}

// A rank that only gives may be calls ahead. Then what it has written for the next call, if that is
// like this one, is on its way while this one is done. Not if this rank had to wait: a line that is
// fetched before its owner has written it, the owner must take back.
template <typename Parts>
void BasicLane<Parts>::fetch_next_of(int peer) {
  log_.fetch_next_line_of(peer);
  const uint64_t extent = part_->slot_extent;
  if (extent == 0 || extent > tuned::kMostFetched) return;
  const std::byte* slot = addresses_.slots_of(peer, (log_.call() + 1) & 1) +
                          slots_.next_place(extent, slots_.size_class_of(extent));
  for (uint64_t at = 0; at < extent; at += kCacheLine) __builtin_prefetch(slot + at);
}

// ---- data --------------------------------------------------------------------------------------

// The first two are one pass over memory with the next step, where that copies the same.
template <typename Parts>
bool BasicLane<Parts>::copy(const Step& step, const std::byte* src) {
  const CopyHint hint = staging_.hint_of(step, *part_);
  std::byte* const dst = addresses_.of(step.dst);
  if (!step.with_next) {
    engine_.copy(dst, src, step.bytes, hint);
    ++next_;
    return true;
  }
  const Step& other = part_->schedule.steps[next_ + 1];
  engine_.copy(dst, hint, addresses_.of(other.dst), staging_.hint_of(other, *part_), src,
               step.bytes);
  next_ += 2;
  return true;
}

template <typename Parts>
bool BasicLane<Parts>::reduce(const Step& step) {
  const Ref* refs = part_->schedule.sources.data() + step.first_source;
  const std::span<const void*> sources = engine_.sources();
  for (uint32_t i = 0; i < step.source_count; ++i) sources[i] = addresses_.of(refs[i]);
  ReduceOptions options{.divisor = step.finishes ? plan_->divisor : 0,
                        .stream = staging_.is_non_temporal(step, *part_)};
  if (step.with_next) {
    const Step& copy = part_->schedule.steps[next_ + 1];
    options.copy = addresses_.of(copy.dst);
    options.stream_copy = staging_.is_non_temporal(copy, *part_);
  }
  engine_.reduce(*plan_, *arguments_, record_, addresses_.of(step.dst), step.source_count,
                 step.bytes, options);
  next_ += step.with_next ? 2 : 1;
  return true;
}

// The source is an address of the peer's process.
template <typename Parts>
bool BasicLane<Parts>::pull(const Step& step) {
  const auto from = reinterpret_cast<uint64_t>(addresses_.of(step.src));
  if (!reader_.asks()) {
    if (const std::byte* seen = window_->view(step.peer, from, step.bytes)) {
      return copy(step, seen);
    }
  }
  const Result<bool> read = reader_.read(step.peer, addresses_.of(step.dst), from, step.bytes);
  if (!read.ok()) return fail(read.status());
  if (*read) ++next_;
  return *read;
}

template <typename Parts>
bool BasicLane<Parts>::expect(const Step& step) {
  const auto head = engine_.template get<BlockHead>(addresses_.of(step.src));
  if (head.bytes == step.bytes) [[likely]]
    return true;
  return fail(faults().of_size(step.peer, step.bytes, fmt::format("{} bytes", head.bytes)));
}

template <typename Parts>
bool BasicLane<Parts>::receive(const Step& step) {
  messages_.post(part_->schedule, part_->receives, next_,
                 [this](const Ref& ref) { return addresses_.of(ref); });
  switch (messages_.receive(step.peer, step.bytes)) {
    case StepMessages::Received::kDone: return true;
    case StepMessages::Received::kNotYet: return false;
    case StepMessages::Received::kFailed: return fail(messages_.failed());
    case StepMessages::Received::kLeft: return fail(faults().has_destroyed(step.peer));
    case StepMessages::Received::kOtherSize:
      return fail(faults().of_size(step.peer, step.bytes, messages_.received()));
    case StepMessages::Received::kOtherCall:
      stranger_ = names_.number_of(step.peer);
      return fail(faults().of_stranger(step.peer));
  }
  return false;
}

template <typename Parts>
bool BasicLane<Parts>::sends_done() {
  if (messages_.sends_done()) return true;
  return messages_.failed().ok() ? false : fail(messages_.failed());
}

}  // namespace tutti
