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
      stranger_ = names_.number_of(step.peer);
      return fail(faults().of_stranger(step.peer));
  }
  return false;
}

}  // namespace tutti
