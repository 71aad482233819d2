// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/simulate/program.hpp"

#include <bit>

#include "algorithms/cost.hpp"

namespace tutti::simulate {
namespace {

// Seconds of a step that waits for nobody.
double work_of(const Schedule& schedule, const Step& step, int rank, const StepCosts& costs) {
  const Machine& m = costs.machine;
  const auto bytes = static_cast<double>(step.bytes);
  const auto is_peers = [&](const Ref& ref) { return ref.peer() >= 0 && ref.peer() != rank; };
  switch (step.kind) {
    case StepKind::kCopy: {
      if (is_shared(step.dst.space())) return m.step_s + bytes * m.takeover_s;
      if (is_peers(step.src)) return m.step_s + bytes * m.handover_s;
      return m.step_s + bytes * (costs.cached ? m.copy_cached_s : m.copy_memory_s);
    }
    case StepKind::kPull: return m.step_s + m.pull_s + bytes * costs.pull_byte_s;
    case StepKind::kReduce: {
      double seconds = m.step_s + step.source_count * bytes * m.reduce_s;
      for (const Ref& source : reads_of(step, schedule)) {
        if (is_peers(source)) seconds += bytes * m.handover_s;
      }
      return seconds;
    }
    default: return m.step_s;
  }
}

OpKind kind_of(StepKind kind) {
  switch (kind) {
    case StepKind::kSend: return OpKind::kSend;
    case StepKind::kRecv: return OpKind::kRecv;
    case StepKind::kFence: return OpKind::kFence;
    case StepKind::kPublish: return OpKind::kPublish;
    case StepKind::kAwait: return OpKind::kAwait;
    default: return OpKind::kWork;
  }
}

bool has_peer(const Op& op) {
  return op.kind == OpKind::kSend || op.kind == OpKind::kRecv || op.kind == OpKind::kAwait;
}

void append(std::vector<Op>& ops, const Op& op) {
  if (op.kind == OpKind::kWork && !ops.empty() && ops.back().kind == OpKind::kWork) {
    ops.back().amount += op.amount;
  } else {
    ops.push_back(op);
  }
}

Program compiled(const Schedule& schedule, int rank, int ranks, const StepCosts& costs) {
  Program program{.ops = {}, .ranks = ranks, .ticks = schedule.ticks};
  for (const Step& step : schedule.steps) {
    Op op{.kind = kind_of(step.kind)};
    if (op.kind == OpKind::kWork) {
      op.amount = work_of(schedule, step, rank, costs);
    } else if (op.kind == OpKind::kPublish || op.kind == OpKind::kAwait) {
      op.amount = step.tick;
    } else {
      op.amount = static_cast<double>(step.bytes);
    }
    const bool all = op.kind == OpKind::kAwait && step.peer == kAllPeers;
    if (has_peer(op)) op.apart = all ? kAllPeers : (step.peer - rank + ranks) % ranks;
    append(program.ops, op);
  }
  return program;
}

uint64_t hash_of(const Program& program) {
  uint64_t hash = static_cast<uint64_t>(program.ranks) << 32 | program.ticks;
  const auto mix = [&](uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 29;
  };
  for (const Op& op : program.ops) {
    mix(static_cast<uint64_t>(op.kind) << 32 | static_cast<uint32_t>(op.apart));
    mix(std::bit_cast<uint64_t>(op.amount));
  }
  return hash;
}

}  // namespace

StepCosts step_costs(const Problem& problem, const Machine& machine) {
  StepCosts costs{.machine = machine};
  costs.cached = buffers_are_cached(problem, machine);
  costs.pull_byte_s = costs.cached                                          ? machine.pull_cached_s
                      : problem.bytes() < problem.limits.non_temporal_bytes ? machine.pull_shared_s
                                                                            : machine.pull_memory_s;
  return costs;
}

const Program* Programs::of(const Schedule& schedule, int rank, int ranks, const StepCosts& costs) {
  Program program = compiled(schedule, rank, ranks, costs);
  const uint64_t hash = hash_of(program);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto known = first; known != last; ++known) {
    const Program& other = *known->second;
    if (other.ranks == program.ranks && other.ops == program.ops) return &other;
  }
  ops_ += program.ops.size();
  program.ops.shrink_to_fit();
  all_.push_back(std::move(program));
  by_hash_.emplace(hash, &all_.back());
  return &all_.back();
}

}  // namespace tutti::simulate
