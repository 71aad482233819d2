// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "adapt/sampler.hpp"

#include <algorithm>

namespace tutti {
namespace {

constexpr double kLeastSeconds = 1e-9;

}  // namespace

std::optional<double> seconds_of(const CallSample& call) {
  if (call.slots_are_new) return std::nullopt;
  const double seconds = std::max(call.seconds - call.first_wait_s, kLeastSeconds);
  // The root's own block takes as long as each of its peers' has taken.
  return call.root_keeps_last ? seconds * call.ranks / (call.ranks - 1) : seconds;
}

double seconds_of_both(double begun_s, double ended_s, double both_ended_s) {
  // Beyond twice its own time, the other message was not under way, but waited for its receive.
  return std::min(both_ended_s - begun_s, 2 * (ended_s - begun_s));
}

}  // namespace tutti
