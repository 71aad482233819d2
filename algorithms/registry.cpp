// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "algorithms/algorithm.hpp"

namespace tutti {
namespace {

// The null at the end allows an empty registry.
constexpr const Algorithm* kAlgorithms[] = {
#define TUTTI_ALGORITHM(collective, name) &collective##_##name,
#include "algorithms/registry.inc"
#undef TUTTI_ALGORITHM
    nullptr};

}  // namespace

std::span<const Algorithm* const> algorithms() {
  return std::span(kAlgorithms).first(std::size(kAlgorithms) - 1);
}

const Algorithm* find_algorithm(Collective collective, std::string_view name) {
  const auto all = algorithms();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Algorithm* algorithm) {
    return algorithm->collective == collective && algorithm->name == name;
  });
  return found == all.end() ? nullptr : *found;
}

Schedule build_schedule(const Algorithm& algorithm, const Problem& problem) {
  Schedule schedule;
  Builder builder(schedule);
  algorithm.build(problem, builder);
  return schedule;
}

}  // namespace tutti
