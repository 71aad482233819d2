// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/bench/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace tutti::bench {

Statistics summarize(std::vector<double>& samples) {
  std::sort(samples.begin(), samples.end());
  const size_t n = samples.size();
  // The nearest-rank definition: the least value that 99 % do not exceed.
  const auto last = static_cast<size_t>(std::ceil(0.99 * static_cast<double>(n)));
  return {.min = samples.front(),
          .avg = std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(n),
          .median = (samples[(n - 1) / 2] + samples[n / 2]) / 2,
          .p99 = samples[last - 1],
          .max = samples.back(),
          .wait = 0};
}

Statistics over_ranks(std::span<const Statistics> ranks) {
  Statistics all = ranks.front();
  for (const Statistics& rank : ranks) {
    all.min = std::min(all.min, rank.min);
    all.avg = std::max(all.avg, rank.avg);
    all.median = std::max(all.median, rank.median);
    all.p99 = std::max(all.p99, rank.p99);
    all.max = std::max(all.max, rank.max);
    all.wait = std::max(all.wait, rank.wait);
  }
  return all;
}

}  // namespace tutti::bench
