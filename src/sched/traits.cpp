// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Derives the traits of a schedule from its steps.
#include "sched/traits.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "adapt/distance.hpp"

namespace tutti {
namespace {

// Copies and reduces memory that this process sees.
bool works(const Step& step) {
  return step.kind == StepKind::kCopy || step.kind == StepKind::kReduce;
}

bool is_about_heads(const Step& step) {
  return step.kind == StepKind::kWriteHead || step.kind == StepKind::kExpect;
}

bool waits(const Step& step) {
  return step.kind == StepKind::kAwait || step.kind == StepKind::kRecv;
}

size_t first_wait_of(const Schedule& schedule) {
  const auto found = std::ranges::find_if(schedule.steps, waits);
  return found == schedule.steps.end() ? 0 : static_cast<size_t>(found - schedule.steps.begin());
}

uint64_t end_in_slot(const Step& step) {
  if (!writes(step) || step.dst.space() != Space::kSlot) return 0;
  return step.dst.offset + (step.kind == StepKind::kWriteHead ? sizeof(BlockHead) : step.bytes);
}

// Distances matter for it: see Traits::staged_bytes.
bool is_staged(const Schedule& schedule, const Step& step) {
  return works(step) && step.bytes >= kLeastStagedNonTemporal &&
         (touches(step, schedule, in_space(Space::kSlot)) ||
          touches(step, schedule, in_space(Space::kWindow)));
}

// After such steps, a peer needs of this rank what lies in its line or slot at most.
bool leaves_little_behind(const Schedule& schedule, const Step& step) {
  if (works(step)) return std::ranges::none_of(reads_of(step, schedule), in_space(Space::kWindow));
  const bool waits_for_one = step.kind == StepKind::kAwait && step.peer != kAllPeers;
  return is_about_heads(step) || waits_for_one || step.kind == StepKind::kPublish;
}

}  // namespace

Traits traits_of(const Schedule& schedule) {
  Traits traits;
  traits.first_wait = first_wait_of(schedule);
  bool light = !schedule.exports_buffers;
  for (const Step& step : schedule.steps) {
    traits.most_sources = std::max(traits.most_sources, step.source_count);
    traits.enters |= step.kind == StepKind::kPublish;
    traits.sends_messages |= step.kind == StepKind::kSend || step.kind == StepKind::kRecv;
    traits.writes_window |= writes(step) && step.dst.space() == Space::kWindow;
    traits.uses_window |= touches(step, schedule, in_space(Space::kWindow));
    traits.uses_lines |= touches(step, schedule, in_space(Space::kLine));
    traits.slot_written = std::max(traits.slot_written, end_in_slot(step));
    if (is_staged(schedule, step)) traits.staged_bytes += step.bytes;
    light &= leaves_little_behind(schedule, step);
  }
  traits.runs_ahead = light && traits.enters && !traits.writes_window;
  return traits;
}

std::string to_string(const Traits& traits) {
  std::string text = traits.enters ? "enters the call" : "enters the call before its first step";
  const auto add = [&text](const std::string& fact) { text += "; " + fact; };
  if (traits.first_wait > 0) add(fmt::format("waits first in step {}", traits.first_wait));
  if (traits.sends_messages) add("sends messages");
  if (traits.slot_written > 0) add(fmt::format("writes {} B of its slot", traits.slot_written));
  if (traits.uses_lines) add("uses call lines");
  if (traits.writes_window) {
    add("writes its window");
  } else if (traits.uses_window) {
    add("reads windows");
  }
  if (traits.runs_ahead) add("may end before its peers begin");
  return text;
}

}  // namespace tutti
