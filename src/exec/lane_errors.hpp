// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A lane's words about its calls: whom it waits for, as numbers and as text, and whether the last
// calls match. If it is traced, also each step.
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "exec/lane.hpp"

namespace tutti {

template <typename Components>
bool BasicLane<Components>::fail(Status status) {
  status_ = std::move(status);
  return false;
}

template <typename Components>
void BasicLane<Components>::abandon() {
  if (lane_plan_ == nullptr) return;
  messages_.cancel();
  trials_.abandon();
  finish();
}

template <typename Components>
std::string BasicLane<Components>::blocked_on() const {
  if (lane_plan_ == nullptr) return "";
  std::string text;
  const auto add = [&text](const std::string& sentence) {
    text += (text.empty() ? "" : "; ") + sentence;
  };
  const uint32_t wanted = begun_ ? log_.call() : log_.begins_after();
  for (int peer = 0; memory_ != nullptr && peer < ranks_; ++peer) {
    if (peer == rank_ || reached(log_.last_call_of(peer), wanted)) continue;
    add(faults().lateness(peer, wanted, begun_));
  }
  if (!text.empty()) return text;
  const std::string_view entered = memory_ != nullptr ? " entered the call but" : "";
  const std::vector<Step>& steps = lane_plan_->schedule.steps;
  const Step* step = next_ < steps.size() ? &steps[next_] : nullptr;
  if (step != nullptr && step->kind != StepKind::kFence) {
    const int peer = step->peer == kAllPeers ? next_peer_ : step->peer;
    if (peer < 0 || peer >= ranks_ || peer == rank_) return text;
    const std::string what =
        names_.is_subset() ? "its part of it" : to_string(*step, lane_plan_->schedule);
    add(fmt::format("{}{} is late for: {}", names_.of(peer), entered, what));
  } else if (messages_.sends()) {
    add(fmt::format("{}{} has not taken {} bytes sent to it", names_.of(messages_.receiver()),
                    entered, messages_.bytes_to_receiver()));
  }
  return text;
}

template <typename Components>
std::vector<int> BasicLane<Components>::waits_for() const {
  std::vector<int> peers;
  if (lane_plan_ == nullptr) return peers;
  const uint32_t wanted = begun_ ? log_.call() : log_.begins_after();
  for (int peer = 0; memory_ != nullptr && peer < ranks_; ++peer) {
    if (peer != rank_ && !reached(log_.last_call_of(peer), wanted)) {
      peers.push_back(names_.number_of(peer));
    }
  }
  // Receives are not posted past any other step that can block, so that is what comes next.
  if (messages_.receives()) {
    peers.push_back(names_.number_of(lane_plan_->schedule.steps[next_].peer));
    return peers;
  }
  const std::vector<Step>& steps = lane_plan_->schedule.steps;
  if (peers.empty() && next_ < steps.size() && steps[next_].kind == StepKind::kAwait) {
    const int peer = steps[next_].peer == kAllPeers ? next_peer_ : steps[next_].peer;
    if (peer >= 0 && peer < ranks_ && peer != rank_) peers.push_back(names_.number_of(peer));
  } else if (messages_.sends()) {
    peers.push_back(names_.number_of(messages_.receiver()));
  }
  return peers;
}

template <typename Components>
bool BasicLane<Components>::knows_last_calls(Status& differs) {
  if (memory_ == nullptr) return true;
  bool knows = true;
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer == rank_) continue;
    const CallLog::Look look = log_.look_at_last_calls(peer);
    if (look == CallLog::Look::kNotYet) knows = false;
    if (look != CallLog::Look::kFault) continue;
    const bool left = log_.fault() == CallLog::Fault::kLeft;
    differs = left ? faults().left_before(peer, log_.faulty_call()) : faults().of_log();
    return true;
  }
  return knows;
}

template <typename Components>
Advance BasicLane<Components>::advance(StepTrace& trace) {
  const uint64_t sequence = record_.sequence;
  trace.enter(sequence);
  for (;;) {
    const LanePlan* const lane_plan = lane_plan_;
    const std::vector<Step>& steps = lane_plan->schedule.steps;
    const size_t first = next_;
    const Advance outcome = advance(first + 1);
    const size_t end = outcome == Advance::kDone ? steps.size() : std::min(next_, steps.size());
    for (size_t i = first; i < end; ++i) trace.add(steps[i], sequence, names_);
    const bool moved = end != first || lane_plan_ != lane_plan;
    if (outcome != Advance::kBlocked || !moved) return outcome;
  }
}

}  // namespace tutti
