// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "adapt/sampler.hpp"

#include <algorithm>

namespace tutti {
namespace {

constexpr double kLeastSeconds = 1e-9;

// How much faster a read must be, where it costs peers more than its own time.
constexpr double kReadPenalty = 1.5;
// Up to here a read costs its peer more than its own time.
constexpr uint64_t kMostOfShortReads = 128 << 10;

}  // namespace

std::optional<double> seconds_of(const CallSample& call) {
  if (call.slots_are_new) return std::nullopt;
  const double seconds = std::max(call.seconds - call.first_wait_s, kLeastSeconds);
  // The root's own block takes as long as each of its peers' has taken.
  return call.root_keeps_last ? seconds * call.ranks / (call.ranks - 1) : seconds;
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
