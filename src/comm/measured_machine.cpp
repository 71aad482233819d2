// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "comm/measured_machine.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "comm/tuning_file.hpp"
#include "core/least_seconds.hpp"
#include "transports/transport.hpp"

namespace tutti {
namespace {

constexpr double kMostUnusual = 8;  // factor, either way
constexpr size_t kBeyondSecondLevel = 2 << 20;

double rounded(double measured, double usual) {
  const double factor = std::clamp(measured / usual, 1 / kMostUnusual, kMostUnusual);
  return usual * std::exp2(std::round(4 * std::log2(factor)) / 4);
}

double copy_byte_s() {
  constexpr int kTimes = 6;
  const std::vector<std::byte> from(kBeyondSecondLevel, std::byte{1});
  std::vector<std::byte> to(kBeyondSecondLevel);
  const double seconds = least_seconds(kTimes, [&] {
    std::memcpy(to.data(), from.data(), to.size());
    asm volatile("" : : "r"(to.data()) : "memory");  // somebody looks at it
  });
  return seconds / kBeyondSecondLevel;
}

}  // namespace

Machine measured_machine(const Environment& environment) {
  Machine machine;
  if (!environment.measure_machine) return machine;
  machine.copy_memory_s = rounded(copy_byte_s(), machine.copy_memory_s);
  if (const uint64_t bytes = this_machine().l2_bytes; bytes > 0) machine.cache_bytes = bytes;
  if (!environment.pull.value_or(true)) return machine;
  const std::optional<PullCosts> pulls = host_kind().pull_costs();
  if (!pulls) return machine;
  machine.pull_s = rounded(pulls->start_s, machine.pull_s);
  // The kernel's part of a byte's cost is the same wherever the byte is.
  const double usual = machine.pull_cached_s;
  machine.pull_cached_s = rounded(pulls->byte_s, usual);
  machine.pull_shared_s += machine.pull_cached_s - usual;
  machine.pull_memory_s += machine.pull_cached_s - usual;
  return machine;
}

}  // namespace tutti
