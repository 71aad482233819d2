// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the time of a call says about the arm that it took.
#include "exec/call_trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "core/clock.hpp"
#include "core/log.hpp"

namespace tutti {
namespace {

constexpr double kLeast_s = 1e-9;
// Slots that calls move through are cold after calls that did not use them, for longer than a trial
// lasts if calls are short. So what reads where data lies must be that much faster.
double cold_slots(uint64_t bytes) { return bytes < (128 << 10) ? 1.4 : 1.1; }

}  // namespace

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

// Where one rank only gives, its peers find done in their next calls what it has done meanwhile,
// and what that took shows in their first wait alone. So of calls that follow at once on one
// another, all counts from end to end. Where the call before took another arm, some of that is of
// its work, so that the time says nothing. The root of a scatter through staging keeps its own
// block when its peers have theirs, as long as each of these took. Memory that has just been made
// says nothing either.
std::optional<double> CallTrials::seconds_of(const Plan::Part& part, Collective collective,
                                             const Timed& timed, double end_s) const {
  if (timed.slots_are_new) return std::nullopt;
  constexpr double kAtOnce = 1.0 / 8;  // of the call
  const bool follows = root_gives(collective) && timed.call == trial_->last_call + 1 &&
                       timed_from_s_ - trial_->ended_s < (end_s - timed_from_s_) * kAtOnce;
  if (follows && arm_ != trial_->last_arm) return std::nullopt;
  if (follows) return std::max(end_s - trial_->ended_s, kLeast_s);
  const double seconds = end_s - timed_from_s_ - (wait_ended_s_ - wait_began_s_);
  const bool root_goes_on = collective == Collective::kScatter && !part.schedule.shows_buffers;
  const double all = root_goes_on ? seconds * timed.ranks / (timed.ranks - 1) : seconds;
  return std::max(all, kLeast_s);
}

void CallTrials::learn(const Plan& plan, const Plan::Part& part, Collective collective,
                       const Timed& timed, double end_s) {
  const bool moves = timed.fits_slots && !plan.parts.front().ping_pong_slots;
  const bool avoids_slots = part.schedule.shows_buffers && moves;
  if (const std::optional<double> seconds = seconds_of(part, collective, timed, end_s)) {
    const double counted = *seconds * (avoids_slots ? cold_slots(timed.block_bytes) : 1);
    trial_->bandit.took(arm_, counted / static_cast<double>(timed.block_bytes));
  }
  trial_->last_call = timed.call;
  trial_->last_arm = arm_;
  trial_->ended_s = end_s;
}

void CallTrials::finish(const Plan& plan, const Plan::Part& part, Collective collective,
                        const Timed& timed, const std::byte* told) {
  if (timed_from_s_ > 0) learn(plan, part, collective, timed, now_s());
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
