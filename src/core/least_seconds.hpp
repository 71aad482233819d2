// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>

#include "core/clock.hpp"

namespace tutti {

// The shortest of so many times of work(): other work on the machine has disturbed that least.
template <typename Work>
double least_seconds(int times, Work&& work) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < times; ++i) {
    const double begun = now_s();
    work();
    least = std::min(least, now_s() - begun);
  }
  return least;
}

}  // namespace tutti
