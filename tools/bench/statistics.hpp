// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The times that one rank saw of its calls, and those that all ranks saw together. Times are in
// microseconds.
#pragma once

#include <span>
#include <vector>

namespace tutti::bench {

struct Statistics {
  double min = 0;
  double avg = 0;
  double median = 0;
  double p99 = 0;  // 99 of 100 calls took at most this long
  double max = 0;
  double wait = 0;  // the part of avg after all calls were started, where that is measured
};

// `samples` must not be empty; it gets sorted.
Statistics summarize(std::vector<double>& samples);

// A collective is over when its slowest rank is: each figure is the greatest of any rank, except
// the minimum, which is the least.
Statistics over_ranks(std::span<const Statistics> ranks);

}  // namespace tutti::bench
