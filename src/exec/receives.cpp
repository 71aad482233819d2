// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "exec/receives.hpp"

namespace tutti {
namespace {

// How far ahead to look: bounds what a plan costs to make.
constexpr uint32_t kLookahead = 64;

struct Place {
  Ref ref;
  uint64_t bytes;
};

bool is_buffer(const Ref& ref) {
  return ref.space() == Space::kSend || ref.space() == Space::kRecv;
}

bool overlap(const Place& a, const Place& b, bool in_place) {
  if (a.bytes == 0 || b.bytes == 0) return false;
  if (a.ref.base != b.ref.base) return in_place && is_buffer(a.ref) && is_buffer(b.ref);
  return a.ref.offset < b.ref.offset + b.bytes && b.ref.offset < a.ref.offset + a.bytes;
}

// Whether the step leaves the place alone. No receive goes before a fence, after which the sources
// of earlier sends may be written, nor before what concerns shared memory.
bool leaves_alone(const Schedule& schedule, const Step& step, const Place& place, bool in_place) {
  const auto uses = [&](const Ref& ref) { return overlap({ref, step.bytes}, place, in_place); };
  switch (step.kind) {
    case StepKind::kSend: return !uses(step.src);
    case StepKind::kRecv: return !uses(step.dst);
    case StepKind::kCopy: return !uses(step.src) && !uses(step.dst);
    case StepKind::kReduce:
      for (uint32_t i = 0; i < step.source_count; ++i) {
        if (uses(schedule.sources[step.first_source + i])) return false;
      }
      return !uses(step.dst);
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
    const Place place{receive.dst, receive.bytes};
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
