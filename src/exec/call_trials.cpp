// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the time of a call says about the way that it went.
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
  const size_t ways = 1 + part.rivals.size();
  const bool at_once = block_bytes >= kLeastLeftAtOnce;
  rivalry_ = &rivalries_.try_emplace(plan.rivalry, Rivalry{Rivals(ways, at_once)}).first->second;
  way_ = rivalry_->next;
  timed_from_s_ = now_s;
  wait_began_s_ = wait_ended_s_ = 0;
  const auto way = static_cast<size_t>(way_);
  return way > 0 && way < ways ? *part.rivals[way - 1] : part;
}

void CallTrials::tell(std::byte* where) {
  const Rival next = rivalry_->rivals.choose();
  std::memcpy(where, &next, sizeof next);
}

void CallTrials::waits(bool first, double now_s) {
  if (!first || timed_from_s_ == 0) return;
  wait_ended_s_ = now_s;
  if (wait_began_s_ == 0) wait_began_s_ = wait_ended_s_;
}

// Where one rank only gives, its peers find done in their next calls what it has done meanwhile,
// and what that took shows in their first wait alone. So of calls that follow at once on one
// another, all counts from end to end. Where the call before went another way, some of that is of
// its work, so that the time says nothing. The root of a scatter through staging keeps its own
// block when its peers have theirs, as long as each of these took. Memory that has just been made
// says nothing either.
std::optional<double> CallTrials::seconds_of(const Plan::Part& part, Collective collective,
                                             const Timed& timed, double end_s) const {
  if (timed.slots_are_new) return std::nullopt;
  constexpr double kAtOnce = 1.0 / 8;  // of the call
  const bool follows = root_gives(collective) && timed.call == rivalry_->last_call + 1 &&
                       timed_from_s_ - rivalry_->ended_s < (end_s - timed_from_s_) * kAtOnce;
  if (follows && way_ != rivalry_->last_way) return std::nullopt;
  if (follows) return std::max(end_s - rivalry_->ended_s, kLeast_s);
  const double seconds = end_s - timed_from_s_ - (wait_ended_s_ - wait_began_s_);
  const bool root_goes_on = collective == Collective::kScatter && !part.schedule.shows_buffers;
  const double all = root_goes_on ? seconds * timed.ranks / (timed.ranks - 1) : seconds;
  return std::max(all, kLeast_s);
}

void CallTrials::learn(const Plan& plan, const Plan::Part& part, Collective collective,
                       const Timed& timed, double end_s) {
  const bool walks = timed.fits_slots && !plan.parts.front().trades_slots;
  const bool avoids_slots = part.schedule.shows_buffers && walks;
  if (const std::optional<double> seconds = seconds_of(part, collective, timed, end_s)) {
    const double counted = *seconds * (avoids_slots ? cold_slots(timed.block_bytes) : 1);
    rivalry_->rivals.took(way_, counted / static_cast<double>(timed.block_bytes));
  }
  rivalry_->last_call = timed.call;
  rivalry_->last_way = way_;
  rivalry_->ended_s = end_s;
}

void CallTrials::finish(const Plan& plan, const Plan::Part& part, Collective collective,
                        const Timed& timed, const std::byte* told) {
  if (timed_from_s_ > 0) learn(plan, part, collective, timed, now_s());
  std::memcpy(&rivalry_->next, told, sizeof rivalry_->next);
  if (decides(plan) && rivalry_->next != way_ && log::enabled(LogLevel::kDebug)) {
    log_choice(plan, collective, timed.block_bytes);
  }
  rivalry_ = nullptr;
}

void CallTrials::log_choice(const Plan& plan, Collective collective, uint64_t bytes) const {
  std::string estimates;
  for (size_t i = 0; i < plan.ways.size(); ++i) {
    const auto way = static_cast<Rival>(i);
    const bool known = rivalry_->rivals.knows(way);
    const double us = rivalry_->rivals.cost(way) * static_cast<double>(bytes) * 1e6;
    estimates += fmt::format("{}{}: {}", i == 0 ? "" : ", ", plan.ways[i],
                             known ? fmt::format("{:.2f} us", us) : "not known");
  }
  log::debug("{} of {} bytes goes on by {}; {}", collective_name(collective), bytes,
             plan.ways[static_cast<size_t>(rivalry_->next)], estimates);
}

}  // namespace tutti
