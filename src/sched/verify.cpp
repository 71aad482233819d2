// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "sched/verify.hpp"

#include <fmt/format.h>

#include <string>

#include "sched/verify_parts.hpp"

namespace tutti {
namespace {

std::string problem_text(const Problem& problem, const Claim& claim) {
  std::string text = fmt::format("{} {}, {} ranks", collective_name(problem.collective), claim.name,
                                 problem.ranks);
  if (has_root(problem.collective)) text += fmt::format(", root {}", problem.root);
  if (problem.collective != Collective::kBarrier) {
    text += fmt::format(", {} x {} B", problem.count, problem.element_bytes);
    if (problem.stride != problem.count) text += fmt::format(", stride {}", problem.stride);
    if (problem.in_place) text += ", in place";
    if (!problem.layouts.send.counts.empty()) text += ", uneven blocks";
  }
  const Limits& limits = problem.limits;
  if (!limits.slots.shared()) return text + ", messages only";
  return text + fmt::format(", slot {} B, window {} B, chunk {} B{}", limits.slots.call_bytes,
                            limits.window_bytes, limits.chunk_bytes, limits.pulls ? ", pulls" : "");
}

Status prove(std::span<const Schedule> schedules, const Problems& problems, const Claim& claim) {
  const Problem& problem = problems.common();
  if (problem.ranks < 1 || problem.ranks > kMostVerifiedRanks ||
      schedules.size() != static_cast<size_t>(problem.ranks)) {
    return Status::format(Code::kInvalidArgument,
                          "{} schedules given; expected one for each of 1 to {} ranks",
                          schedules.size(), kMostVerifiedRanks);
  }
  TUTTI_RETURN_IF_ERROR(check_form(schedules, problems));
  const bool ordered = problem.collective == Collective::kBarrier || uses_shared_memory(schedules);
  Values values(problem.ranks);
  RankMemories memories(schedules, problems, ordered);
  TUTTI_RETURN_IF_ERROR(run_schedules(schedules, problem, memories, values));
  return check_results(problems, claim, memories, values);
}

}  // namespace

Status verify(std::span<const Schedule> schedules, const Problem& problem, const Claim& claim) {
  return verify(schedules, std::span(&problem, 1), claim);
}

Status verify(std::span<const Schedule> schedules, std::span<const Problem> problems,
              const Claim& claim) {
  Status status = prove(schedules, Problems(problems), claim);
  return status.ok() ? status : status.with_context(problem_text(problems.front(), claim));
}

}  // namespace tutti
