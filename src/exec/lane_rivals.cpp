// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Which of two algorithms calls go by: see Rivalry.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/clock.hpp"
#include "core/log.hpp"
#include "exec/lane.hpp"

namespace tutti {
namespace {

constexpr double kLeast_s = 1e-9;

}  // namespace

void Lane::take_part_of_rivals() {
  rivalry_ = &rivalries_[plan_->rivalry];
  way_ = rivalry_->next;
  if (way_ == Rival::kSecond) part_ = part_->rival.get();
}

void Lane::say_way_of_next(CallLine& line) {
  timed_from_s_ = now_s();
  const Rival next = rivalry_->rivals.choose();
  std::memcpy(line.payload + kShownBytes, &next, sizeof next);
}

// How late a peer came says nothing about the way, so the call is timed from the end of the first
// wait.
void Lane::still_waits() {
  if (next_ <= part_->first_wait && timed_from_s_ > 0) timed_from_s_ = now_s();
}

void Lane::settle_rivalry() {
  const uint64_t bytes = arguments_->count * plan_->element_bytes;
  if (decides() && timed_from_s_ > 0) {
    const double seconds = std::max(now_s() - timed_from_s_, kLeast_s);
    rivalry_->rivals.took(way_, seconds / static_cast<double>(bytes));
  }
  std::memcpy(&rivalry_->next, line_of(plan_->decider, call_).payload + kShownBytes,
              sizeof rivalry_->next);
  if (decides() && rivalry_->next != way_) {
    const auto estimate = [&](Rival rival) {
      if (!rivalry_->rivals.knows(rival)) return std::string("not known");
      return fmt::format("{:.2f} us",
                         rivalry_->rivals.cost(rival) * static_cast<double>(bytes) * 1e6);
    };
    log::debug("{} of {} bytes goes on by {}; {} takes: {}, {}: {}",
               collective_name(arguments_->collective), bytes,
               (way_ == Rival::kFirst ? plan_->rival : plan_->algorithm)->name,
               plan_->algorithm->name, estimate(Rival::kFirst), plan_->rival->name,
               estimate(Rival::kSecond));
  }
  rivalry_ = nullptr;
}

}  // namespace tutti
