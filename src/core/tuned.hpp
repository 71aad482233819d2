// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The constants of tuned.inc, as tuned::kName. A build may multiply one of them (TUTTI_TUNED_TRIAL
// in CMakeLists.txt, which `./dev tuned` sets).
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tuned_trial.hpp"

namespace tutti::tuned {

struct Trial {
  std::string_view name;  // empty: no constant is multiplied
  double scale;
};

template <std::integral T>
constexpr T tried(const Trial& trial, std::string_view name, T value) {
  if (name != trial.name) return value;
  return static_cast<T>(std::max(static_cast<double>(value) * trial.scale + 0.5, 1.0));
}

#define TUTTI_TUNED(name, type, value, unit, file, trades, measure) \
  inline constexpr type name = tried<type>({TUTTI_TUNED_NAME, TUTTI_TUNED_SCALE}, #name, value);
#include "core/tuned.inc"
#undef TUTTI_TUNED

}  // namespace tutti::tuned
