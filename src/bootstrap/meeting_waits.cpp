// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Waits of the ranks at a meeting: who is missing, when the log says so, and when the meeting
// fails.

#include "bootstrap/meeting_state.hpp"
#include "core/log.hpp"

namespace tutti::bootstrap {
namespace {

// "ranks 2, 3 of 4": those that are not there.
std::string list_absent(std::string_view what, const std::vector<bool>& here) {
  constexpr int kNamed = 16;
  std::string list;
  int count = 0;
  for (size_t i = 0; i < here.size(); ++i) {
    if (here[i]) continue;
    if (++count <= kNamed) list += fmt::format("{}{}", count > 1 ? ", " : "", i);
  }
  if (count == 0) return {};
  if (count > kNamed) list += fmt::format(" and {} more", count - kNamed);
  return fmt::format("{}{} {} of {}", what, count == 1 ? "" : "s", list, here.size());
}

// Whether it waits for others to come to the round under way.
bool waits_for_others(const Attendee& attendee) {
  return attendee.gathered.has_value() || attendee.staying;
}

}  // namespace

// The ranks that have not arrived, or not come to the round under way.
std::string Meeting::missing() const {
  const bool in_round = phase_ != Phase::kArriving;
  std::vector<bool> here(static_cast<size_t>(ranks_ > 0 ? ranks_ : newcomers_));
  for (const Attendee& attendee : attendees_) {
    if (!in_round || waits_for_others(attendee)) here[static_cast<size_t>(attendee.rank)] = true;
  }
  if (ranks_ == 0) {
    const std::string others = list_absent(" and newcomer", here);
    return fmt::format("the ranks of the communicator that is to grow{}", others);
  }
  std::string ranks = list_absent("rank", here);
  if (newcomers_ > 0) {
    ranks += fmt::format(" (newcomers: {} to {})", ranks_ - newcomers_, ranks_ - 1);
  }
  return ranks;
}

// Whether anybody waits for another to arrive, or to come to the round under way.
bool Meeting::anybody_waits() const {
  if (phase_ == Phase::kArriving) return arrived_ > 0;
  return phase_ == Phase::kComplete && (gathered_ > 0 || staying_ > 0);
}

void Meeting::warn_of_absence(int64_t now) {
  if (now - first_arrival_ms_ < warn_after_ms_) return;
  log::warn("a communicator is being made: {} has waited {:.1f} s; {} {}", first_,
            static_cast<double>(now - first_arrival_ms_) / 1000, missing(),
            phase_ == Phase::kArriving
                ? "did not arrive yet: not started, stopped, or told another meeting place"
                : "did not come to the next step of it: see what its process does");
  warn_after_ms_ *= 2;
}

void Meeting::check_deadlines() {
  Hub::check_deadlines();
  const int64_t now = Hub::now();
  for (Attendee* one : std::vector(away_)) {
    if (now >= one->return_until_ms) lose(*one, 0);
  }
  if (warn_after_ms_ != kNever && anybody_waits()) warn_of_absence(now);
  if (now < deadline_ms_ || phase_ == Phase::kFailed) return;
  if (arrived_ == 0) {
    log::info("nobody has come to the meeting {}: it is given up", id_.describe());
    fail(Code::kTimeout, "the id was not used for too long (TUTTI_ID_LIFETIME_MS)");
    linger_ms_ = now;
    return;
  }
  const double seconds = static_cast<double>(now - first_arrival_ms_) / 1000;
  if (phase_ == Phase::kArriving) {
    return fail(
        Code::kTimeout,
        fmt::format("{} did not arrive within {:.1f} s of {}{}{}", missing(), seconds, first_,
                    lack_.empty() ? "" : "; " + lack_, refused_.of_another_version()));
  }
  if (anybody_waits()) {
    return fail(
        Code::kTimeout,
        fmt::format("{} stopped taking part while the communicator was being made, {:.1f} s "
                    "after {} had arrived",
                    missing(), seconds, first_));
  }
  deadline_ms_ = kNever;  // nobody waits; whoever comes back has its own deadline
}

}  // namespace tutti::bootstrap
