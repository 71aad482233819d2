// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Which of several ways calls go: see Rivalry.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "core/clock.hpp"
#include "core/log.hpp"
#include "exec/lane.hpp"

namespace tutti {
namespace {

constexpr double kLeast_s = 1e-9;
// Slots that calls walk through are cold after calls that did not use them, for longer than a trial
// lasts if calls are short: so what reads where data lies must be that much faster than what goes
// through them. With 1.1 alone, 2 ranks on near cores made half of their allreduces of 64 KiB by
// reading, which takes 5.0 us instead of 3.9.
double cold_slots(uint64_t bytes) { return bytes < (128 << 10) ? 1.4 : 1.1; }

}  // namespace

void Lane::take_part_of_rivals() {
  const size_t ways = 1 + part_->rivals.size();
  const bool at_once = block_bytes() >= kLeastLeftAtOnce;
  rivalry_ = &rivalries_.try_emplace(plan_->rivalry, Rivalry{Rivals(ways, at_once)}).first->second;
  way_ = rivalry_->next;
  if (const auto way = static_cast<size_t>(way_); way > 0 && way < ways) {
    part_ = part_->rivals[way - 1].get();
  }
  timed_from_s_ = decides() ? now_s() : 0;
  wait_began_s_ = wait_ended_s_ = 0;
}

void Lane::say_way_of_next(CallLine& line) {
  const Rival next = rivalry_->rivals.choose();
  std::memcpy(line.payload + kShownBytes, &next, sizeof next);
}

void Lane::still_waits() {
  if (next_ > part_->traits.first_wait || timed_from_s_ == 0) return;
  wait_ended_s_ = now_s();
  if (wait_began_s_ == 0) wait_began_s_ = wait_ended_s_;
}

// How late a peer came says nothing about the way, so the first wait does not count. But where one
// rank only gives, the next calls of the others find done what it has done meanwhile, and what that
// took shows in that wait alone. So of calls that follow at once on one another, all counts from
// end to end; where the one before went another way, some of that is of its work, so that it says
// nothing. Of others the root of a scatter through staging keeps its own block when its peers have
// theirs, as long as each of these took. And what has just got its pages, each of two slots, says
// nothing either (broadcasts of 16 MB took twice as long as later).
std::optional<double> Lane::seconds_until(double end_s) const {
  if (part_->slot_extent > 0 && call_ - slots_new_from_ < 2) return std::nullopt;
  constexpr double kAtOnce = 1.0 / 8;  // of the call
  const bool follows = root_gives(arguments_->collective) && call_ == rivalry_->last_call + 1 &&
                       timed_from_s_ - rivalry_->ended_s < (end_s - timed_from_s_) * kAtOnce;
  if (follows && way_ != rivalry_->last_way) return std::nullopt;
  if (follows) return std::max(end_s - rivalry_->ended_s, kLeast_s);
  const double seconds = end_s - timed_from_s_ - (wait_ended_s_ - wait_began_s_);
  const bool root_goes_on =
      arguments_->collective == Collective::kScatter && !part_->schedule.shows_buffers;
  return std::max(root_goes_on ? seconds * ranks_ / (ranks_ - 1) : seconds, kLeast_s);
}

void Lane::settle_rivalry() {
  const uint64_t bytes = block_bytes();
  if (decides() && timed_from_s_ > 0) {
    const double end_s = now_s();
    const bool walks = bytes <= slot_bytes_ && !plan_->parts.front().trades_slots;
    const bool avoids_slots = part_->schedule.shows_buffers && walks;
    if (const std::optional<double> seconds = seconds_until(end_s)) {
      const double counted = *seconds * (avoids_slots ? cold_slots(bytes) : 1);
      rivalry_->rivals.took(way_, counted / static_cast<double>(bytes));
    }
    rivalry_->last_call = call_;
    rivalry_->last_way = way_;
    rivalry_->ended_s = end_s;
  }
  std::memcpy(&rivalry_->next, line_of(plan_->decider, call_).payload + kShownBytes,
              sizeof rivalry_->next);
  if (decides() && rivalry_->next != way_ && log::enabled(LogLevel::kDebug)) log_choice(bytes);
  rivalry_ = nullptr;
}

void Lane::log_choice(uint64_t bytes) const {
  std::string estimates;
  for (size_t i = 0; i < plan_->ways.size(); ++i) {
    const auto way = static_cast<Rival>(i);
    const bool known = rivalry_->rivals.knows(way);
    const double us = rivalry_->rivals.cost(way) * static_cast<double>(bytes) * 1e6;
    estimates += fmt::format("{}{}: {}", i == 0 ? "" : ", ", plan_->ways[i],
                             known ? fmt::format("{:.2f} us", us) : "not known");
  }
  log::debug("{} of {} bytes goes on by {}; {}", collective_name(arguments_->collective), bytes,
             plan_->ways[static_cast<size_t>(rivalry_->next)], estimates);
}

}  // namespace tutti
