// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The samples of an arm: how long a call or a message took. Left out is what says nothing about the
// arm; added is what a trial does not show. Every factor of that kind stands here.
#pragma once

#include <cstdint>
#include <optional>

namespace tutti {

// A call of a collective, as the coordinator saw it.
struct CallSample {
  double seconds;        // the time from its beginning to its end
  double first_wait_s;   // this rank's first wait for its peers, within that time
  bool root_keeps_last;  // the root stores its own block after its peers have theirs
  bool slots_are_new;    // the memory of the slots was made in this call
  int ranks;             // at least 2
};

// The sample that the bandit is to learn, more than 0; none if the call says nothing about its arm.
[[nodiscard]] std::optional<double> seconds_of(const CallSample& call);

// How long a message took from when it met its receive, between ranks that have a core each. If
// another went in the other direction meanwhile, both count: `both_ended_s`. Oversubscribed ranks
// wait for each other's turns, in which others get on: of their messages only the work counts.
[[nodiscard]] double seconds_of_both(double begun_s, double ended_s, double both_ended_s);

}  // namespace tutti
