// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "select/on_device.hpp"

#include <algorithm>

#include "kernels/device/modules.hpp"

namespace tutti {
namespace {

// The kernels that reduce so many sources in rank order: each but the first begins with the result
// of the one before it.
uint32_t kernels_for(uint32_t sources) {
  return sources <= 1 ? 1 : (sources - 2) / (kDeviceKernelSources - 1) + 1;
}

bool is_on_device(const Ref& ref) {
  switch (ref.space()) {
    case Space::kSend:
    case Space::kRecv:
    case Space::kScratch:
    case Space::kPeerSend:
    case Space::kPeerRecv: return true;
    default: return false;
  }
}

bool is_on_device(const Step& step, const Schedule& schedule) {
  if (!is_on_device(step.dst)) return false;
  if (step.kind != StepKind::kReduce) return is_on_device(step.src);
  const auto first = schedule.sources.begin() + step.first_source;
  return std::all_of(first, first + step.source_count,
                     [](const Ref& ref) { return is_on_device(ref); });
}

// The problem in the form that all ranks share: the busiest rank of a call that is not in place.
Problem as_all_see(Problem problem) {
  problem.rank = has_root(problem.collective) ? problem.root : 0;
  if (root_gives(problem.collective)) problem.rank = (problem.root + 1) % problem.ranks;
  problem.in_place = false;
  problem.layouts = {};
  return on_device(std::move(problem));
}

}  // namespace

Applies can_run_on_devices(Collective collective, uint64_t count, int ranks) {
  if (ranks == 1) return {false, "one rank is alone"};
  if (count == 0 && !sizes_are_own(collective)) return {false, "there is no data"};
  return {};
}

Problem on_device(Problem problem) {
  problem.limits = {};
  problem.limits.slots.call_bytes = kCacheLine;  // they share memory, of which none is used
  problem.limits.pulls = true;
  problem.limits.maps_peers = true;
  problem.limits.exports_blocks = true;
  problem.hosts = nullptr;
  problem.cache_domains = nullptr;
  return problem;
}

Applies runs_on_device(const Schedule& schedule) {
  uint32_t awaited = 1;
  for (const Step& step : schedule.steps) {
    switch (step.kind) {
      case StepKind::kCopy:
      case StepKind::kPull:
      case StepKind::kReduce:
        if (!is_on_device(step, schedule)) return {false, "passes through memory of the host"};
        break;
      case StepKind::kPublish:
        if (step.tick > 1 && step.tick <= awaited) {
          return {false, "awaits a tick before it publishes that"};
        }
        break;
      case StepKind::kAwait: awaited = std::max(awaited, step.tick); break;
      default: return {false, "sends messages"};
    }
  }
  return {};
}

double device_seconds(const Schedule& schedule, const DeviceFigures& figures) {
  double seconds = schedule.ticks * figures.tick_s;
  for (const Step& step : schedule.steps) {
    const auto bytes = static_cast<double>(step.bytes);
    if (step.kind == StepKind::kReduce) {
      const uint32_t kernels = kernels_for(step.source_count);
      // Values that pass between kernels are written, and read again.
      const double read = step.source_count + 2.0 * (kernels - 1);
      seconds += kernels * figures.launch_s + read * bytes * figures.reduce_s;
    } else if (step.kind == StepKind::kCopy || step.kind == StepKind::kPull) {
      seconds += figures.launch_s + bytes * figures.copy_s;
    }
  }
  return seconds;
}

std::vector<DeviceCandidate> device_candidates(const Problem& problem,
                                               const DeviceFigures& figures) {
  std::vector<DeviceCandidate> candidates;
  const Problem seen = as_all_see(problem);
  for (const Algorithm* const algorithm : algorithms()) {
    if (algorithm->collective != problem.collective || algorithm->build == nullptr) continue;
    if (problem.rank_order && !algorithm->rank_order) continue;
    DeviceCandidate candidate{algorithm, algorithm->applies(seen), 0};
    if (candidate.applies.yes) {
      const Schedule schedule = build_schedule(*algorithm, seen);
      candidate.applies = runs_on_device(schedule);
      candidate.seconds = device_seconds(schedule, figures);
    }
    candidates.push_back(candidate);
  }
  return candidates;
}

const Algorithm* choose_on_device(const Problem& problem, const DeviceFigures& figures) {
  const DeviceCandidate* best = nullptr;
  const std::vector<DeviceCandidate> candidates = device_candidates(problem, figures);
  for (const DeviceCandidate& candidate : candidates) {
    if (!candidate.applies.yes) continue;
    if (best == nullptr || candidate.seconds < best->seconds) best = &candidate;
  }
  return best == nullptr ? nullptr : best->algorithm;
}

}  // namespace tutti
