// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "adapt/sampler.hpp"

#include <algorithm>

namespace tutti {
namespace {

constexpr double kLeastSeconds = 1e-9;

// A call follows at once if the pause before it is a small part of what it takes.
constexpr double kFollowsAtOnce = 1.0 / 8;
// How much faster a read must be, where it costs peers more than its own time.
constexpr double kReadPenalty = 1.5;
// Up to here a read costs its peer more than its own time.
constexpr uint64_t kMostOfShortReads = 128 << 10;

// A rank that only gives runs ahead, and its peers find its part of their next call done. What that
// took shows in their first wait alone. So calls in a row count from end to end. After a call by
// another arm, that includes some of its work, so the time says nothing.
bool follows_at_once(const CallSample& call) {
  return call.root_gives && call.next_to_last &&
         call.begun_s - call.last_ended_s < (call.ended_s - call.begun_s) * kFollowsAtOnce;
}

double without_first_wait(const CallSample& call) {
  const double seconds = call.ended_s - call.begun_s - call.first_wait_s;
  // The root's own block takes as long as each of its peers' has taken.
  return call.root_keeps_last ? seconds * call.ranks / (call.ranks - 1) : seconds;
}

}  // namespace

std::optional<double> seconds_of(const CallSample& call) {
  if (call.slots_are_new) return std::nullopt;
  const bool follows = follows_at_once(call);
  if (follows && !call.same_arm) return std::nullopt;
  const double seconds = follows ? call.ended_s - call.last_ended_s : without_first_wait(call);
  return std::max(seconds, kLeastSeconds);
}

double seconds_of(const MessageSample& message) {
  // Short messages are timed with their request and answer, since a ring that was idle for a while
  // is slow in a trial. A rank that shares its core makes its peers wait while it reads.
  const bool costs_more = message.takes_turns || message.bytes <= kMostOfShortReads;
  return message.seconds * (message.read && costs_more ? kReadPenalty : 1);
}

double seconds_of_both(double begun_s, double ended_s, double both_ended_s) {
  // Beyond twice its own time, the other message was not under way, but waited for its receive.
  return std::min(both_ended_s - begun_s, 2 * (ended_s - begun_s));
}

}  // namespace tutti
