// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The order of what may choose an algorithm, and the arm that is timed against the choice.
#include "select/selector.hpp"

#include <algorithm>

#include "adapt/trial_policy.hpp"
#include "core/log.hpp"

namespace tutti {
namespace {

// In the order of the collectives.
struct RuleVariable {
  std::string_view name;
  Text JobVariables::*text;
};
constexpr RuleVariable kRuleVariables[] = {
#define TUTTI_COLLECTIVE(id, name, variable, ...) {"CCL_" #variable, &JobVariables::name},
#include "core/collectives.inc"
#undef TUTTI_COLLECTIVE
};

// The problem as every rank has it alike, whatever an algorithm looks at.
Problem without_rank(Problem problem) {
  problem.rank = 0;
  problem.in_place = false;
  problem.layouts = {};
  return problem;
}

// The last rule that covers the size: later rules overlay earlier ones.
const Rule* rule_for(const CollectiveRules& rules, const Problem& problem) {
  const Rule* found = nullptr;
  for (const Rule& rule : rules[static_cast<size_t>(problem.collective)]) {
    if (rule.lowest <= problem.bytes() && problem.bytes() <= rule.highest) found = &rule;
  }
  return found != nullptr && found->algorithm != nullptr ? found : nullptr;
}

}  // namespace

std::string_view rule_variable(Collective collective) {
  return kRuleVariables[static_cast<size_t>(collective)].name;
}

JobVariables without_rules(JobVariables variables) {
  for (const RuleVariable& variable : kRuleVariables) variables.*variable.text = {};
  return variables;
}

Result<Selector> Selector::create(const JobVariables& variables, const Machine& machine,
                                  Advice advice) {
  Selector selector(machine, variables.strict, variables.adapt, std::move(advice));
  for (size_t i = 0; i < std::size(kRuleVariables); ++i) {
    const RuleVariable& variable = kRuleVariables[i];
    TUTTI_ASSIGN_OR_RETURN(Rules rules, parse_rules(static_cast<Collective>(i), variable.name,
                                                    variables.*variable.text));
    for (const std::string& note : rules.notes) log::info("{}", note);
    selector.rules_[i] = std::move(rules.rules);
  }
  return selector;
}

Applies Selector::usable(const Algorithm& algorithm, const Problem& problem) const {
  if (strict_ && !algorithm.rank_order) {
    return {false, "does not reduce in the order of the ranks (TUTTI_STRICT)"};
  }
  if (problem.rank_order && !algorithm.rank_order) {
    return {false, "does not reduce in the order of the ranks, which operation and type need"};
  }
  return algorithm.applies(problem);
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

// An algorithm reads the buffers of peers if and only if it no longer applies once that is
// forbidden.
bool Selector::reads_peers(const Algorithm& algorithm, const Problem& problem) const {
  Problem without = problem;
  without.limits.pulls = false;
  return !usable(algorithm, without).yes;
}

// The cheapest algorithm that takes the other route, if it is worth a trial. Both reduce in rank
// order, so both give the same bits.
const Algorithm* Selector::other_route_of(const Algorithm& chosen, const Problem& problem) const {
  const bool may = adapts_ && problem.limits.pulls && !problem.limits.maps_peers &&
                   problem.known_to_all() && chosen.rank_order;
  if (!may) return nullptr;
  const TriedCall call{.bytes = problem.bytes(),
                       .in_slot_bytes = problem.limits.slots.call_bytes,
                       .seconds = chosen.seconds(problem, machine_),
                       .has_root = has_root(problem.collective),
                       .oversubscribed = machine_.ranks_per_core > 1};
  if (!may_try_other_route(call)) return nullptr;
  const bool reads = reads_peers(chosen, problem);
  const Algorithm* best = nullptr;
  double most = most_seconds_of_other_route(call);
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->collective != problem.collective || !algorithm->rank_order) continue;
    if (!usable(*algorithm, problem).yes || reads_peers(*algorithm, problem) == reads) continue;
    const double seconds = algorithm->seconds(problem, machine_);
    if (seconds >= most) continue;
    best = algorithm;
    most = seconds;
  }
  return best;
}

bool Selector::accept(const Algorithm& algorithm, const std::string& origin, const Problem& problem,
                      Decision& decision) const {
  const Applies applies = usable(algorithm, problem);
  if (!applies.yes) {
    decision.note = fmt::format("{} demands {}, which does not apply: {}", origin, algorithm.name,
                                applies.why_not);
    return false;
  }
  decision.algorithm = &algorithm;
  decision.origin = origin;
  return true;
}

bool Selector::ask_tuner(const Problem& problem, Decision& decision) const {
  struct Offer {
    double seconds;
    std::string name;
  };
  std::vector<Offer> offers;
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->collective != problem.collective || !usable(*algorithm, problem).yes) continue;
    offers.push_back({algorithm->seconds(problem, machine_), std::string(algorithm->name)});
  }
  std::ranges::stable_sort(offers, {}, &Offer::seconds);
  std::vector<const char*> names;
  std::vector<double> seconds;
  for (const Offer& offer : offers) {
    names.push_back(offer.name.c_str());
    seconds.push_back(offer.seconds);
  }
  const std::string collective(collective_name(problem.collective));
  const tutti_tuner_query query{.size = sizeof(tutti_tuner_query),
                                .collective = collective.c_str(),
                                .ranks = problem.ranks,
                                .type = static_cast<tutti_type>(problem.type),
                                .bytes = problem.bytes(),
                                .candidates = offers.size(),
                                .algorithms = names.data(),
                                .seconds = seconds.data()};
  const char* answer = advice_.tuner.choose(advice_.tuner.context, &query);
  if (answer == nullptr) return false;
  decision.severity = LogLevel::kWarn;
  const Algorithm* algorithm = find_algorithm(problem.collective, answer);
  if (algorithm != nullptr) return accept(*algorithm, "the tuner", problem, decision);
  decision.note =
      fmt::format("the tuner demands \"{}\", which is no algorithm of {}", answer, collective);
  return false;
}

Selector::Decision Selector::decide(const Problem& problem) const {
  Decision decision = decide_algorithm(problem);
  decision.with_other_stores = with_other_stores(decision, problem);
  return decision;
}

Selector::Decision Selector::decide_algorithm(const Problem& problem) const {
  Decision decision;
  if (const Rule* rule = rule_for(rules_, problem)) {
    const std::string origin(rule_variable(problem.collective));
    if (accept(*rule->algorithm, origin, problem, decision)) return decision;
  }
  // Tuner and file speak of buffers that each rank alone can see.
  const bool advised = !problem.limits.maps_peers;
  if (advised && advice_.tuner.choose != nullptr && ask_tuner(problem, decision)) {
    return decision;
  }
  if (const Rule* rule = rule_for(advice_.rules, problem); advised && rule != nullptr) {
    const std::string origin = "tuning file " + advice_.rules_path;
    if (accept(*rule->algorithm, origin, problem, decision)) return decision;
  }
  decision.algorithm = cheapest(problem);
  if (decision.algorithm != nullptr)
    decision.other_route = other_route_of(*decision.algorithm, problem);
  decision.origin = "cost model";
  return decision;
}

// The algorithm to try with the other kind of stores, whatever has chosen it. If there are two
// routes, it is the one that writes the receive buffer itself: the one that does not read peers.
const Algorithm* Selector::with_other_stores(const Chosen& chosen, const Problem& problem) const {
  const Limits& limits = problem.limits;
  const bool may = adapts_ && limits.tries_non_temporal && limits.slots.shared() &&
                   !limits.maps_peers && problem.received_bytes() >= kLeastReceivedNonTemporal;
  if (!may || chosen.algorithm == nullptr) return nullptr;
  const bool other = chosen.other_route != nullptr && reads_peers(*chosen.algorithm, problem);
  return other ? chosen.other_route : chosen.algorithm;
}

Chosen Selector::choose(const Problem& problem) const {
  const Problem common = without_rank(problem);
  const Decision decision = decide(common);
  if (!decision.note.empty()) {
    log::message(decision.severity, "{} of {} bytes on {} ranks: {}: using {}, by {}",
                 collective_name(common.collective), common.bytes(), common.ranks, decision.note,
                 decision.algorithm == nullptr ? "none" : decision.algorithm->name,
                 decision.origin);
  }
  return decision;
}

std::optional<Demanded> Selector::demanded(const Problem& problem) const {
  const Problem common = without_rank(problem);
  const Rule* const rule = rule_for(rules_, common);
  if (rule == nullptr || !usable(*rule->algorithm, common).yes) return std::nullopt;
  const auto candidate = [&](const Algorithm& algorithm) {
    return Candidate{&algorithm, true, "", algorithm.seconds(common, machine_)};
  };
  return Demanded{rule_variable(common.collective), candidate(*rule->algorithm),
                  candidate(*cheapest(common))};
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
  Decision decision = decide(common);
  static_cast<Chosen&>(choice) = decision;
  choice.origin = std::move(decision.origin);
  choice.note = std::move(decision.note);
  return choice;
}

}  // namespace tutti
