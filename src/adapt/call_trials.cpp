// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The arm of each call, and what its time says about that.
#include "adapt/call_trials.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string>

#include "core/log.hpp"

namespace tutti {

size_t CallTrials::start(const Arms& arms, uint64_t block_bytes, double now_s) {
  const Bandit bandit(arms.names.size(), trial_calls(block_bytes));
  trial_ = &trials_.try_emplace(arms.key, Trial{bandit}).first->second;
  arm_ = trial_->next;
  timed_from_s_ = now_s;
  wait_began_s_ = wait_ended_s_ = 0;
  return static_cast<size_t>(arm_);
}

void CallTrials::announce(std::byte* where) {
  const Arm next = trial_->bandit.better();
  std::memcpy(where, &next, sizeof next);
}

void CallTrials::note_wait(bool first, double now_s) {
  if (!first || timed_from_s_ == 0) return;
  wait_ended_s_ = now_s;
  if (wait_began_s_ == 0) wait_began_s_ = wait_ended_s_;
}

void CallTrials::learn(const Ended& ended) {
  const CallSample sample = {
      .seconds = ended.at_s - timed_from_s_,
      .first_wait_s = wait_ended_s_ - wait_began_s_,
      .root_keeps_last = ended.collective == Collective::kScatter && !ended.reads_peers,
      .slots_are_new = ended.slots_are_new,
      .ranks = ended.ranks};
  if (const std::optional<double> seconds = seconds_of(sample)) {
    trial_->bandit.took(arm_, *seconds / static_cast<double>(ended.block_bytes));
  }
}

void CallTrials::finish(const Arms& arms, const Ended& ended, const std::byte* told) {
  if (is_timed()) learn(ended);
  Arm next;
  std::memcpy(&next, told, sizeof next);
  // Memory that others write may hold anything.
  trial_->next = static_cast<size_t>(next) < arms.names.size() ? next : Arm::kFirst;
  if (decides(arms) && trial_->next != arm_ && log::enabled(LogLevel::kDebug)) {
    log_choice(arms, ended);
  }
  trial_ = nullptr;
}

void CallTrials::log_choice(const Arms& arms, const Ended& ended) const {
  std::string estimates;
  for (size_t i = 0; i < arms.names.size(); ++i) {
    const auto arm = static_cast<Arm>(i);
    const bool known = trial_->bandit.knows(arm);
    const double us = trial_->bandit.cost(arm) * static_cast<double>(ended.block_bytes) * 1e6;
    estimates += fmt::format("{}{}: {}", i == 0 ? "" : ", ", arms.names[i],
                             known ? fmt::format("{:.2f} us", us) : "not known");
  }
  log::debug("{} of {} bytes goes on by {}; {}", collective_name(ended.collective),
             ended.block_bytes, arms.names[static_cast<size_t>(trial_->next)], estimates);
}

}  // namespace tutti
