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
  std::string_view name;  // none: no constant is multiplied
  double scale;
};

// A factor tells by how much something is more or less than 1, so that part of it is multiplied.
template <typename T>
constexpr T tried(const Trial& trial, std::string_view name, std::string_view unit, T value) {
  if (name != trial.name) return value;
  const auto of = static_cast<double>(value);
  const double scaled = unit == "factor" ? 1 + (of - 1) * trial.scale : of * trial.scale;
  if constexpr (std::integral<T>) return static_cast<T>(std::max(scaled + 0.5, 1.0));
  return static_cast<T>(scaled);
}

#define TUTTI_TUNED(name, type, value, unit, file, trades, measure) \
  inline constexpr type name =                                      \
      tried<type>({TUTTI_TUNED_NAME, TUTTI_TUNED_SCALE}, #name, unit, value);
#include "core/tuned.inc"
#undef TUTTI_TUNED

}  // namespace tutti::tuned
