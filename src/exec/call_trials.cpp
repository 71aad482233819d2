// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The arm of each call, and what its time says about that.
#include "exec/call_trials.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string>

#include "core/clock.hpp"
#include "core/log.hpp"

namespace tutti {
const Plan::Part& CallTrials::start(const Plan& plan, const Plan::Part& part, uint64_t block_bytes,
                                    double now_s) {
  const size_t arms = 1 + part.other_arms.size();
  const bool at_once = block_bytes >= kLeastLeftAtOnce;
  trial_ = &trials_.try_emplace(plan.bandit_key, Trial{Bandit(arms, at_once)}).first->second;
  arm_ = trial_->next;
  timed_from_s_ = now_s;
  wait_began_s_ = wait_ended_s_ = 0;
  const auto arm = static_cast<size_t>(arm_);
  return arm > 0 && arm < arms ? *part.other_arms[arm - 1] : part;
}

void CallTrials::announce(std::byte* where) {
  const Arm next = trial_->bandit.choose();
  std::memcpy(where, &next, sizeof next);
}

void CallTrials::waits(bool first, double now_s) {
  if (!first || timed_from_s_ == 0) return;
  wait_ended_s_ = now_s;
  if (wait_began_s_ == 0) wait_began_s_ = wait_ended_s_;
}

// Calls move through slots, unless two ranks swap theirs: then the slots are not cold after others.
CallSample CallTrials::sample_of(const Plan& plan, const Plan::Part& part, Collective collective,
                                 const Timed& timed, double end_s) const {
  const bool reads_peers = part.schedule.shows_buffers;
  return {
      .begun_s = timed_from_s_,
      .ended_s = end_s,
      .first_wait_s = wait_ended_s_ - wait_began_s_,
      .last_ended_s = trial_->ended_s,
      .next_to_last = timed.call == trial_->last_call + 1,
      .same_arm = arm_ == trial_->last_arm,
      .root_gives = root_gives(collective),
      .root_keeps_last = collective == Collective::kScatter && !reads_peers,
      .slots_are_new = timed.slots_are_new,
      .avoids_used_slots = reads_peers && timed.fits_slots && !plan.parts.front().ping_pong_slots,
      .ranks = timed.ranks,
      .block_bytes = timed.block_bytes};
}

void CallTrials::learn(const CallSample& sample, uint32_t call) {
  if (const std::optional<double> seconds = seconds_of(sample)) {
    trial_->bandit.took(arm_, *seconds / static_cast<double>(sample.block_bytes));
  }
  trial_->last_call = call;
  trial_->last_arm = arm_;
  trial_->ended_s = sample.ended_s;
}

void CallTrials::finish(const Plan& plan, const Plan::Part& part, Collective collective,
                        const Timed& timed, const std::byte* told) {
  if (timed_from_s_ > 0) {
    learn(sample_of(plan, part, collective, timed, now_s()), timed.call);
  }
  std::memcpy(&trial_->next, told, sizeof trial_->next);
  if (decides(plan) && trial_->next != arm_ && log::enabled(LogLevel::kDebug)) {
    log_choice(plan, collective, timed.block_bytes);
  }
  trial_ = nullptr;
}

void CallTrials::log_choice(const Plan& plan, Collective collective, uint64_t bytes) const {
  std::string estimates;
  for (size_t i = 0; i < plan.arm_names.size(); ++i) {
    const auto arm = static_cast<Arm>(i);
    const bool known = trial_->bandit.knows(arm);
    const double us = trial_->bandit.cost(arm) * static_cast<double>(bytes) * 1e6;
    estimates += fmt::format("{}{}: {}", i == 0 ? "" : ", ", plan.arm_names[i],
                             known ? fmt::format("{:.2f} us", us) : "not known");
  }
  log::debug("{} of {} bytes goes on by {}; {}", collective_name(collective), bytes,
             plan.arm_names[static_cast<size_t>(trial_->next)], estimates);
}

}  // namespace tutti
