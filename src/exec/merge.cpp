// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Finds steps whose results may be written in one pass.
#include "exec/merge.hpp"

#include <algorithm>

#include "exec/overlap.hpp"

namespace tutti {
namespace {

bool are_one(const Step& step, const Step& next) {
  if (next.kind != StepKind::kCopy || next.bytes != step.bytes) return false;
  if (step.kind == StepKind::kReduce) return next.src == step.dst;
  return step.kind == StepKind::kCopy && next.src == step.src;
}

// A kernel reads each element of its sources before it writes it, so what it writes may lie where a
// source lies, but nowhere between. In place, allreduce and reduce have the same bytes at the same
// offset of both buffers.
bool may_overwrite(const Problem& problem, const Ref& source, const Step& copy) {
  const bool alike = problem.in_place && (problem.collective == Collective::kAllreduce ||
                                          problem.collective == Collective::kReduce);
  const bool same_buffer =
      source.base == copy.dst.base || (alike && is_callers(source) && is_callers(copy.dst));
  if (same_buffer && source.offset == copy.dst.offset) return true;
  const PlacedBytes written = {copy.dst, copy.bytes};
  return !overlap({source, copy.bytes}, written, problem.in_place);
}

}  // namespace

void merge_copies(const Problem& problem, Schedule& schedule) {
  for (size_t i = 0; i + 1 < schedule.steps.size(); ++i) {
    Step& step = schedule.steps[i];
    const Step& copy = schedule.steps[i + 1];
    const bool follows = i > 0 && schedule.steps[i - 1].with_next;
    if (follows || !are_one(step, copy)) continue;
    const auto may = [&](const Ref& source) { return may_overwrite(problem, source, copy); };
    step.with_next = std::ranges::all_of(reads_of(step, schedule), may);
  }
}

}  // namespace tutti
