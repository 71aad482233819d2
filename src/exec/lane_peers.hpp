// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The part of a call on a lane that goes beyond slots: buffers of peers that are read or mapped,
// windows, messages.
#pragma once

#include <fmt/format.h>

#include "exec/lane.hpp"

namespace tutti {

template <typename Components>
[[gnu::noinline]] Status BasicLane<Components>::map_windows() {
  Status mapped = addresses_.map_windows();
  return mapped.ok() && lane_plan_->traits.writes_window ? memory_->reserve_window() : mapped;
}

// The other schedule goes on behind the entry, with which both begin, and which is done.
template <typename Components>
bool BasicLane<Components>::go_on_mapped() {
  trials_.forget_time();
  lane_plan_ = lane_plan_->when_mapped.get();
  next_ = 1;
  addresses_.set_scratch(engine_.scratch(lane_plan_->schedule.scratch_bytes));
  addresses_.take_mapped_buffers();
  return true;
}

// The source is an address of the peer's process.
template <typename Components>
bool BasicLane<Components>::pull(const Step& step) {
  const auto from = reinterpret_cast<uint64_t>(addresses_.of(step.src));
  if (!reader_.asks()) {
    if (const std::byte* seen = memory_->mapped(step.peer, from, step.bytes)) {
      copy(step, seen);
      return true;
    }
  }
  const Result<bool> read = reader_.read(step.peer, addresses_.of(step.dst), from, step.bytes);
  return read.ok() ? *read : fail(read.status());
}

template <typename Components>
bool BasicLane<Components>::expect(const Step& step) {
  const auto head = engine_.template get<BlockHead>(addresses_.of(step.src));
  if (head.bytes == step.bytes) [[likely]]
    return true;
  return fail(faults().of_size(step.peer, step.bytes, fmt::format("{} bytes", head.bytes)));
}

template <typename Components>
bool BasicLane<Components>::receive(const Step& step) {
  messages_.post(lane_plan_->schedule, lane_plan_->receives, next_,
                 [this](const Ref& ref) { return addresses_.of(ref); });
  switch (messages_.receive(step.bytes)) {
    case StepMessages::Received::kDone: return true;
    case StepMessages::Received::kNotYet: return false;
    case StepMessages::Received::kFailed: return fail(messages_.failed());
    case StepMessages::Received::kOtherSize:
      return fail(faults().of_size(step.peer, step.bytes, messages_.received()));
    case StepMessages::Received::kOtherCall:
      mismatched_sender_ = names_.number_of(step.peer);
      return fail(faults().of_mismatched_message(step.peer));
  }
  return false;
}

// A few lines, which a core fetches at once.
inline constexpr uint64_t kMostFetched = 256;

// A rank that only gives may be calls ahead. Then what it has written for the next call, if that is
// like this one, is on its way while this one is done. Not if this rank had to wait: a line that is
// fetched before its owner has written it, the owner must take back.
template <typename Components>
void BasicLane<Components>::fetch_next_of(int peer) {
  log_.fetch_next_line_of(peer);
  const uint64_t extent = lane_plan_->slot_extent;
  if (extent == 0 || extent > kMostFetched) return;
  const std::byte* slot = addresses_.slots_of(peer, (log_.call() + 1) & 1) +
                          slots_.next_place(extent, slots_.size_class_of(extent));
  for (uint64_t at = 0; at < extent; at += kCacheLine) __builtin_prefetch(slot + at);
}

// A peer that has given the call up may have changed its buffers since. It stopped the communicator
// before that, so if that is not stopped now, what was read is what the peer gave.
template <typename Components>
bool BasicLane<Components>::check_not_stopped() {
  if (!lane_plan_->schedule.exports_buffers) return true;
  std::atomic_thread_fence(std::memory_order_acquire);
  if (transport_.recovery().shared_state()->stop.load(std::memory_order_acquire) == 0) return true;
  return fail({Code::kAborted, "the communicator was stopped during the call"});
}

}  // namespace tutti
