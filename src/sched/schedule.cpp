// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Schedules as text, for `tutti explain`, error messages and tests.
#include "sched/schedule.hpp"

#include <fmt/format.h>

#include <array>

namespace tutti {
namespace {

constexpr std::array<std::string_view, 8> kSpaceNames = {"send", "recv",   "scratch", "line",
                                                         "slot", "window", "send",    "recv"};

std::string sources_text(const Step& step, const Schedule& schedule) {
  std::string text;
  for (const Ref& source : reads_of(step, schedule)) {
    text += (text.empty() ? "" : ", ") + to_string(source);
  }
  return text;
}

std::string size_text(const Step& step) {
  return fmt::format("  ({} B{}{})", step.bytes, step.finishes ? ", finishes" : "",
                     step.non_temporal ? ", non-temporal" : "");
}

std::string peer_text(int peer) { return peer == kAllPeers ? "all" : fmt::format("rank {}", peer); }

}  // namespace

std::span<const Ref> reads_of(const Step& step, const Schedule& schedule) {
  switch (step.kind) {
    case StepKind::kReduce:
      return std::span(schedule.sources).subspan(step.first_source, step.source_count);
    case StepKind::kCopy:
    case StepKind::kPull:
    case StepKind::kExpect:
    case StepKind::kSend: return {&step.src, 1};
    default: return {};
  }
}

bool writes(const Step& step) {
  return step.kind == StepKind::kCopy || step.kind == StepKind::kPull ||
         step.kind == StepKind::kWriteHead || step.kind == StepKind::kReduce ||
         step.kind == StepKind::kRecv;
}

std::string_view name_of(StepKind kind) {
  constexpr std::array<std::string_view, 10> kNames = {"copy", "pull", "show",  "expect",  "reduce",
                                                       "send", "recv", "fence", "publish", "await"};
  return kNames[static_cast<size_t>(kind)];
}

std::string to_string(const Ref& ref) {
  const std::string_view name = kSpaceNames[static_cast<size_t>(ref.space())];
  if (ref.peer() < 0) return fmt::format("{}+{}", name, ref.offset);
  return fmt::format("{}[{}]+{}", name, ref.peer(), ref.offset);
}

std::string to_string(const Step& step, const Schedule& schedule) {
  switch (step.kind) {
    case StepKind::kCopy:
    case StepKind::kPull:
    case StepKind::kReduce:
      return fmt::format("{} {} <- {}{}", name_of(step.kind), to_string(step.dst),
                         sources_text(step, schedule), size_text(step));
    case StepKind::kWriteHead:
      return fmt::format("show {} <- {}{}", to_string(step.dst), to_string(step.src),
                         size_text(step));
    case StepKind::kExpect: return fmt::format("expect {}{}", to_string(step.src), size_text(step));
    case StepKind::kSend:
      return fmt::format("send {} -> {}{}", to_string(step.src), peer_text(step.peer),
                         size_text(step));
    case StepKind::kRecv:
      return fmt::format("recv {} <- {}{}", to_string(step.dst), peer_text(step.peer),
                         size_text(step));
    case StepKind::kFence: return "fence";
    case StepKind::kPublish: return fmt::format("publish tick {}", step.tick);
    case StepKind::kAwait: return fmt::format("await {} tick {}", peer_text(step.peer), step.tick);
  }
  return "unknown step";
}

std::string to_string(const Schedule& schedule) {
  std::string text;
  for (size_t i = 0; i < schedule.steps.size(); ++i) {
    text += fmt::format("{:4}  {}\n", i, to_string(schedule.steps[i], schedule));
  }
  return text;
}

}  // namespace tutti
