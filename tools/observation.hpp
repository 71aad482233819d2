// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Two looks at jobs, some time apart, and the verdict from them. Between them the system may be
// asked again and again what the processes do.
#pragma once

#include <functional>
#include <vector>

#include "inspect/slow.hpp"

namespace tutti::tools {

struct Observation {
  tutti::inspect::Job before;
  tutti::inspect::Job job;                    // at the end
  tutti::inspect::Job remembered;             // the job with calls that earlier looks have seen
  std::vector<tutti::inspect::Usage> usages;  // by place among its processes
  double seconds = 0;                         // between the two
};

// Sleeps so long, or until it is over, as it finds within half a second.
void sleep_for(double seconds, const std::function<bool()>& over = {});

// The least time that tells what moves, also by the count of processor time.
inline constexpr double kBriefSeconds = 0.15;

// Looks again after `seconds`. For the last `sampled_s` of them it samples what the processes use;
// with 0 no usage is known.
std::vector<Observation> observe(const std::vector<tutti::inspect::Job>& jobs, double seconds,
                                 double sampled_s);

// Whether somebody waits; where nobody does, what costs the job most.
tutti::inspect::Verdict slow_verdict_of(const Observation& observed, double hung_after_s);

}  // namespace tutti::tools
