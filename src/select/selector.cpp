// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "select/selector.hpp"

#include <algorithm>

#include "core/log.hpp"

namespace tutti {
namespace {

struct RuleVariable {
  Collective collective;
  std::string_view name;
  Text Environment::*text;
};
constexpr RuleVariable kRuleVariables[] = {
    {Collective::kAllreduce, "CCL_ALLREDUCE", &Environment::allreduce},
    {Collective::kBroadcast, "CCL_BROADCAST", &Environment::broadcast},
    {Collective::kAllgather, "CCL_ALLGATHER", &Environment::allgather},
    {Collective::kReduceScatter, "CCL_REDUCE_SCATTER", &Environment::reduce_scatter},
    {Collective::kReduce, "CCL_REDUCE", &Environment::reduce},
    {Collective::kAlltoall, "CCL_ALLTOALL", &Environment::alltoall},
    {Collective::kGather, "CCL_GATHER", &Environment::gather},
    {Collective::kScatter, "CCL_SCATTER", &Environment::scatter},
    {Collective::kAllgatherv, "CCL_ALLGATHERV", &Environment::allgatherv},
    {Collective::kReduceScatterv, "CCL_REDUCE_SCATTERV", &Environment::reduce_scatterv},
    {Collective::kAlltoallv, "CCL_ALLTOALLV", &Environment::alltoallv},
    {Collective::kGatherv, "CCL_GATHERV", &Environment::gatherv},
    {Collective::kScatterv, "CCL_SCATTERV", &Environment::scatterv},
    {Collective::kBarrier, "CCL_BARRIER", &Environment::barrier},
};

std::string_view variable_of(Collective collective) {
  for (const RuleVariable& variable : kRuleVariables) {
    if (variable.collective == collective) return variable.name;
  }
  return {};
}

// The same for every rank, whatever the algorithm looks at.
Problem without_rank(Problem problem) {
  problem.rank = 0;
  problem.in_place = false;
  problem.layouts = {};
  return problem;
}

}  // namespace

Limits limits_of(const Environment& environment) {
  return {.slot_bytes = environment.slot_bytes /
                        2,  // the rest lets a call's slot lie elsewhere than the last one's
          .window_bytes = environment.window_bytes,
          .chunk_bytes = std::min(environment.chunk_bytes, environment.window_bytes / 2),
          .stream_bytes = environment.stream_bytes,
          .pulls = environment.pull};
}

// Ranks that outnumber the cores take turns: everything takes as much longer, and who waits for a
// line waits for its writer's turn.
Machine machine_for(int ranks, int cores) {
  Machine machine;
  if (ranks <= cores) return machine;
  const double share = static_cast<double>(ranks) / cores;
  for (double* cost : {&machine.step_s, &machine.copy_cached_s, &machine.copy_memory_s,
                       &machine.handover_s, &machine.takeover_s, &machine.message_s,
                       &machine.message_byte_s, &machine.pull_s, &machine.pull_cached_s,
                       &machine.pull_shared_s, &machine.pull_memory_s, &machine.reduce_s}) {
    *cost *= share;
  }
  // A pull works on memory of a process that is not running: dearer again.
  for (double* cost :
       {&machine.pull_s, &machine.pull_cached_s, &machine.pull_shared_s, &machine.pull_memory_s}) {
    *cost *= share;
  }
  machine.line_s = machine.turn_s * share;
  machine.message_s += machine.line_s;
  return machine;
}

Result<Selector> Selector::create(const Environment& environment, const Machine& machine) {
  Selector selector(machine, environment.strict);
  for (const RuleVariable& variable : kRuleVariables) {
    Result<Rules> rules =
        parse_rules(variable.collective, variable.name, environment.*variable.text);
    if (!rules.ok()) return rules.status();
    for (const std::string& note : rules->notes) log::info("{}", note);
    selector.rules_[static_cast<size_t>(variable.collective)] = std::move(rules->rules);
  }
  return selector;
}

Applies Selector::usable(const Algorithm& algorithm, const Problem& problem) const {
  if (strict_ && !algorithm.rank_order) {
    return {false, "does not reduce in the order of the ranks (TUTTI_STRICT)"};
  }
  return algorithm.applies(problem);
}

// The last that covers the size: later rules overlay earlier ones.
const Rule* Selector::rule_for(const Problem& problem) const {
  const Rule* found = nullptr;
  for (const Rule& rule : rules_[static_cast<size_t>(problem.collective)]) {
    if (rule.lowest <= problem.bytes() && problem.bytes() <= rule.highest) found = &rule;
  }
  return found != nullptr && found->algorithm != nullptr ? found : nullptr;
}

const Algorithm* Selector::cheapest(const Problem& problem) const {
  const Algorithm* best = nullptr;
  double best_seconds = 0;
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->collective != problem.collective || !usable(*algorithm, problem).yes) continue;
    const double seconds = algorithm->seconds(problem, machine_);
    if (best != nullptr && seconds >= best_seconds) continue;
    best = algorithm;
    best_seconds = seconds;
  }
  return best;
}

const Algorithm* Selector::choose(const Problem& problem) const {
  const Problem common = without_rank(problem);
  const Rule* rule = rule_for(common);
  if (rule != nullptr) {
    const Applies applies = usable(*rule->algorithm, common);
    if (applies.yes) return rule->algorithm;
    log::info("{}: {} does not apply to {} bytes on {} ranks ({}): using the cost model",
              variable_of(common.collective), rule->algorithm->name, common.bytes(), common.ranks,
              applies.why_not);
  }
  return cheapest(common);
}

Choice Selector::explain(const Problem& problem) const {
  const Problem common = without_rank(problem);
  Choice choice;
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->collective != common.collective) continue;
    const Applies applies = usable(*algorithm, common);
    choice.candidates.push_back({algorithm, applies.yes, applies.why_not,
                                 applies.yes ? algorithm->seconds(common, machine_) : 0.0});
  }
  choice.algorithm = cheapest(common);
  choice.origin = "cost model";
  if (const Rule* rule = rule_for(common)) {
    const Applies applies = usable(*rule->algorithm, common);
    if (applies.yes) {
      choice.algorithm = rule->algorithm;
      choice.origin = variable_of(common.collective);
    } else {
      choice.note =
          fmt::format("{} demands {}, which does not apply: {}", variable_of(common.collective),
                      rule->algorithm->name, applies.why_not);
    }
  }
  return choice;
}

}  // namespace tutti
