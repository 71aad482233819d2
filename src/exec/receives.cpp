// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Works out from a schedule how early each receive may be posted.
#include "exec/receives.hpp"

#include "exec/overlap.hpp"

namespace tutti {
namespace {

// How far ahead to look: bounds what a plan costs to make.
constexpr uint32_t kLookahead = 64;

// Whether the step leaves the place alone. No receive goes before a fence, after which the sources
// of earlier sends may be written, nor before what concerns shared memory.
bool leaves_alone(const Schedule& schedule, const Step& step, const PlacedBytes& place,
                  bool in_place) {
  const auto uses = [&](const Ref& ref) { return overlap({ref, step.bytes}, place, in_place); };
  switch (step.kind) {
    case StepKind::kSend:
    case StepKind::kRecv:
    case StepKind::kCopy:
    case StepKind::kReduce: return !touches(step, schedule, uses);
    default: return false;
  }
}

}  // namespace

std::vector<ReceiveStep> receives_of(const Schedule& schedule, bool in_place) {
  std::vector<ReceiveStep> receives;
  uint32_t earliest = 0;
  for (uint32_t i = 0; i < schedule.steps.size(); ++i) {
    const Step& receive = schedule.steps[i];
    if (receive.kind != StepKind::kRecv) continue;
    const PlacedBytes place{receive.dst, receive.bytes};
    uint32_t from = i;
    while (from > earliest && i - from < kLookahead &&
           leaves_alone(schedule, schedule.steps[from - 1], place, in_place)) {
      --from;
    }
    receives.push_back({i, from});
    earliest = from;
  }
  return receives;
}

}  // namespace tutti
