// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "exec/step_trace.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {
namespace {

bool has_peer(StepKind kind) {
  switch (kind) {
    case StepKind::kPull:
    case StepKind::kExpect:
    case StepKind::kSend:
    case StepKind::kRecv:
    case StepKind::kAwait: return true;
    default: return false;
  }
}

}  // namespace

void StepTrace::enter(uint64_t sequence) {
  if (sequence == call_) return;
  call_ = sequence;
  since_ = stamp_now();
}

void StepTrace::add(const Step& step, uint64_t sequence, const RankNames& names) {
  const bool one = has_peer(step.kind) && step.peer != kAllPeers;
  const TracedStep traced{.sequence = sequence,
                          .begun = since_,
                          .ended = stamp_now(),
                          .bytes = step.bytes,
                          .peer = one ? names.number_of(step.peer) : kAllPeers,
                          .kind = step.kind};
  since_ = traced.ended;
  const std::lock_guard lock(mutex_);
  if (steps_.size() < kMost) return steps_.push_back(traced);
  steps_[oldest_] = traced;
  oldest_ = (oldest_ + 1) % kMost;
}

std::vector<TracedStep> StepTrace::steps() const {
  const std::lock_guard lock(mutex_);
  std::vector<TracedStep> steps = steps_;
  std::rotate(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(oldest_), steps.end());
  return steps;
}

std::string describe(const TracedStep& step) {
  const std::string peer = step.peer == kAllPeers ? "all" : fmt::format("rank {}", step.peer);
  switch (step.kind) {
    case StepKind::kCopy: return fmt::format("copy {} bytes", step.bytes);
    case StepKind::kPull: return fmt::format("read {} bytes of {}", step.bytes, peer);
    case StepKind::kWriteHead: return fmt::format("show {} bytes", step.bytes);
    case StepKind::kExpect: return fmt::format("look for {} bytes of {}", step.bytes, peer);
    case StepKind::kReduce: return fmt::format("reduce {} bytes", step.bytes);
    case StepKind::kSend: return fmt::format("send {} bytes to {}", step.bytes, peer);
    case StepKind::kRecv: return fmt::format("receive {} bytes from {}", step.bytes, peer);
    case StepKind::kFence: return "wait for what was sent";
    case StepKind::kPublish: return "publish";
    case StepKind::kAwait: return "await " + peer;
  }
  return "";
}

}  // namespace tutti
