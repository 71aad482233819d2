// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Makes the plan of a kind of call: schedules for all lanes, their facts and arms.
#include "exec/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "algorithms/common.hpp"
#include "core/hash.hpp"
#include "exec/merge.hpp"
#include "exec/plan_phases.hpp"

namespace tutti {
namespace {

// A lane costs a hand-off to another thread, which pays from this many bytes per lane.
constexpr uint64_t kLeastBytesPerLane = 256 << 10;

int lanes_for(uint64_t bytes, int lanes) {
  const uint64_t worthwhile = bytes / kLeastBytesPerLane;
  return static_cast<int>(std::clamp<uint64_t>(worthwhile, 1, static_cast<uint64_t>(lanes)));
}

// An algorithm uses either lines or slots, on all ranks alike, unless its schedule says what it
// uses of the slots.
uint64_t slot_extent_of(const LanePlan& lane_plan, const Problem& problem) {
  if (lane_plan.schedule.slot_extent > 0) return lane_plan.schedule.slot_extent;
  return lane_plan.traits.uses_lines ? 0 : problem.slot_extent();
}

LanePlan make_scheduled(const Algorithm& algorithm, const Problem& whole, int lanes, int lane) {
  const Range range = part_of(whole.bytes(), lanes, lane);
  Problem problem = whole;
  problem.count = range.bytes / whole.element_bytes;
  LanePlan lane_plan;
  lane_plan.schedule = build_schedule(algorithm, problem);
  lane_plan.receives = receives_of(lane_plan.schedule, problem.in_place);
  merge_copies(problem, lane_plan.schedule);
  lane_plan.traits = traits_of(lane_plan.schedule);
  lane_plan.offset = range.offset;
  lane_plan.slot_extent = slot_extent_of(lane_plan, problem);
  lane_plan.announces = lane_plan.schedule.exports_buffers;
  lane_plan.maps_peers = problem.limits.maps_peers;
  lane_plan.has_root = has_root(problem.collective);
  lane_plan.ping_pong_slots = lane_plan.schedule.ping_pong_slots && problem.ranks == 2;
  if (lane_plan.ping_pong_slots)
    lane_plan.traits.staged_bytes = 0;  // lines go over once, however far that is
  return lane_plan;
}

// Returns whether there are algorithms for all phases.
bool add_composed(Plan& plan, const Call& call, const Problem& whole, const PlanContext& context) {
  const BufferBlocks blocks = blocks_of(whole.collective, true);
  const bool divides = blocks.send != Blocks::kPerRank && blocks.recv != Blocks::kPerRank;
  const int lanes = divides ? lanes_for(whole.bytes(), context.lanes) : 1;
  for (int lane = 0; lane < lanes; ++lane) {
    const Range range = part_of(whole.bytes(), lanes, lane);
    Problem problem = whole;
    problem.count = range.bytes / whole.element_bytes;
    std::optional<ComposedPlan> composed =
        plan_phases(context, call, plan.signature, plan.algorithm->compose(problem));
    if (!composed) return false;
    composed->offset = range.offset;
    plan.lanes.emplace_back(*std::move(composed));
  }
  return true;
}

// Whether a rank only enters before it has seen the entries of all others. Then nothing is lost if
// it goes on with another schedule.
bool only_enters_first(const Schedule& schedule) {
  const std::vector<Step>& steps = schedule.steps;
  return steps.size() > 2 && steps[0].kind == StepKind::kPublish && steps[0].tick == 1 &&
         steps[1].kind == StepKind::kAwait && steps[1].tick == 1 && steps[1].peer == kAllPeers;
}

// The lane plan of a plan without phases.
LanePlan& scheduled_of(Plan& plan, int lane) {
  return std::get<LanePlan>(plan.lanes[static_cast<size_t>(lane)]);
}

// Adds what lanes may go on with after the entry (LanePlan::when_mapped). Plans whose lanes
// cannot do that, as those of small calls, ask for no further choice. All ranks decide alike: the
// schedules of a collective without a root have the same form on all of them.
void add_mapped(Plan& plan, const Problem& problem, const PlanContext& context) {
  if (!context.can_map_peers) return;
  const auto may_map = [&](const LaneGroupPlan& lane) {
    return can_go_over(problem.collective, std::get<LanePlan>(lane).schedule);
  };
  if (std::ranges::none_of(plan.lanes, may_map)) return;
  const Problem mapped = seen_by_all(problem);
  const Algorithm* algorithm = (*context.choose)(mapped).algorithm;
  if (algorithm == nullptr) return;
  const auto lanes = static_cast<int>(plan.lanes.size());
  for (int lane = 0; lane < lanes; ++lane) {
    LanePlan& lane_plan = scheduled_of(plan, lane);
    if (!can_go_over(problem.collective, lane_plan.schedule)) continue;
    LanePlan when_mapped = make_scheduled(*algorithm, mapped, lanes, lane);
    if (!when_mapped.schedule.exports_buffers) continue;
    lane_plan.schedule.exports_buffers = lane_plan.announces = true;
    lane_plan.traits.most_sources =
        std::max(lane_plan.traits.most_sources, when_mapped.traits.most_sources);
    lane_plan.traits.uses_window |= when_mapped.traits.uses_window;
    lane_plan.when_mapped = std::make_shared<const LanePlan>(std::move(when_mapped));
  }
}

// The rank that sees best how long a call takes: the one that ends last.
int coordinator_of(const Problem& problem) {
  if (!has_root(problem.collective)) return 0;
  return root_gives(problem.collective) ? (problem.root + problem.ranks - 1) % problem.ranks
                                        : problem.root;
}

void add_arm(Plan& plan, std::string name, const Algorithm& algorithm, const Problem& problem) {
  plan.arms.names.push_back(std::move(name));
  const auto lanes = static_cast<int>(plan.lanes.size());
  for (int lane = 0; lane < lanes; ++lane) {
    LanePlan& lane_plan = scheduled_of(plan, lane);
    LanePlan other = make_scheduled(algorithm, problem, lanes, lane);
    lane_plan.traits.most_sources =
        std::max(lane_plan.traits.most_sources, other.traits.most_sources);
    // A rank may end a call only when it has read in the coordinator's entry which arm is next.
    lane_plan.traits.runs_ahead = other.traits.runs_ahead = false;
    lane_plan.announces = other.announces = true;
    lane_plan.other_arms.push_back(std::make_shared<const LanePlan>(std::move(other)));
  }
}

uint32_t number_of(const Algorithm* algorithm) {  // also of none
  return static_cast<uint32_t>(std::ranges::find(algorithms(), algorithm) - algorithms().begin());
}

// Ranks that chose differently, as a tuner may make them, are told as those that call differently.
uint32_t signature_with(uint32_t of_call, const Algorithm* algorithm) {
  return of_call ^ (number_of(algorithm) + 1) * kGoldenRatio32;
}

// A key that calls of one collective share whose sizes have the same power of two, and whose arms
// are the same algorithms and stores.
uint64_t arms_key_of(const Problem& problem, const Chosen& chosen) {
  uint64_t key = static_cast<uint64_t>(problem.collective);
  key = key << 8 | static_cast<uint64_t>(std::bit_width(problem.bytes()));
  for (const Algorithm* each : {chosen.algorithm, chosen.other_route, chosen.with_other_stores}) {
    key = key << 12 | number_of(each);
  }
  return key << 1 | (stores_non_temporal(problem, problem.received_bytes()) ? 1 : 0);
}

void add_arms(Plan& plan, const Chosen& chosen, const Problem& problem) {
  plan.arms.names.emplace_back(chosen.algorithm->name);
  if (chosen.other_route != nullptr) {
    add_arm(plan, std::string(chosen.other_route->name), *chosen.other_route, problem);
  }
  if (chosen.with_other_stores != nullptr) {
    const Problem otherwise = with_other_stores(problem);
    add_arm(plan, fmt::format("{} {}", chosen.with_other_stores->name, kind_of_stores(otherwise)),
            *chosen.with_other_stores, otherwise);
  }
  plan.arms.key = arms_key_of(problem, chosen);
  plan.arms.coordinator = coordinator_of(problem);
}

}  // namespace

Problem problem_for(const PlanKey& key, const PlanContext& context) {
  Problem problem;
  problem.collective = key.collective;
  problem.rank = context.rank;
  problem.ranks = context.ranks;
  problem.root = std::max(key.root, 0);
  problem.count = key.count;
  problem.stride = key.count;
  problem.element_bytes = static_cast<uint32_t>(type_size(key.type));
  problem.type = key.type;
  if (key.layouts != nullptr) problem.layouts = *key.layouts;
  problem.in_place = key.in_place;
  problem.rank_order = reduces(key.collective) && needs_rank_order(key.op, key.type);
  problem.limits = context.limits.for_calls_of(key.collective);
  problem.hosts = context.hosts;
  problem.cache_domains = context.cache_domains;
  return problem;
}

bool can_go_over(Collective collective, const Schedule& schedule) {
  return !has_root(collective) && !is_uneven(collective) && only_enters_first(schedule);
}

Problem seen_by_all(Problem problem) {
  problem.limits.pulls = true;
  problem.limits.maps_peers = true;
  return problem;
}

Problem with_other_stores(Problem problem) {
  problem.limits.non_temporal_bytes =
      stores_non_temporal(problem, problem.received_bytes()) ? UINT64_MAX : 0;
  return problem;
}

std::string_view kind_of_stores(const Problem& problem) {
  return stores_non_temporal(problem, problem.received_bytes()) ? "past the caches"
                                                                : "through the caches";
}

size_t Plan::steps() const {
  size_t steps = 0;
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    if (const ComposedPlan* const whole = composed(lane)) {
      for (const ComposedPlan::Phase& phase : whole->phases) {
        steps += 1 + (phase.plan != nullptr ? phase.plan->steps() : phase.moves.size());
      }
      continue;
    }
    const LanePlan& lane_plan = *scheduled(lane);
    steps += lane_plan.schedule.steps.size();
    if (lane_plan.when_mapped != nullptr) steps += lane_plan.when_mapped->schedule.steps.size();
    for (const auto& other : lane_plan.other_arms) steps += other->schedule.steps.size();
  }
  return steps;
}

std::shared_ptr<Plan> make_plan(const Call& call, const PlanKey& key, const PlanContext& context) {
  auto plan = std::make_shared<Plan>();
  const Problem problem = problem_for(key, context);
  const Algorithm* const of_scope = algorithm_of_scope(key.purpose);
  const Chosen chosen =
      of_scope != nullptr ? Chosen{.algorithm = of_scope} : (*context.choose)(problem);
  plan->algorithm = chosen.algorithm;
  if (plan->algorithm == nullptr) return nullptr;
  plan->signature = signature_with(signature_of(call), plan->algorithm);
  plan->record = record_of(call, 0, digest_of(call));
  plan->element_bytes = problem.element_bytes;
  plan->divisor = static_cast<uint32_t>(context.all_ranks > 0 ? context.all_ranks : context.ranks);
  if (reduces(key.collective) && key.op != ReduceOp::kUser) {
    plan->kernel = reduce_kernel(key.op, key.type);
  }
  const int lanes = is_uneven(key.collective) ? 1 : lanes_for(problem.bytes(), context.lanes);
  if (plan->algorithm->compose != nullptr) {
    return add_composed(*plan, call, problem, context) ? plan : nullptr;
  }
  for (int lane = 0; lane < lanes; ++lane) {
    plan->lanes.emplace_back(make_scheduled(*plan->algorithm, problem, lanes, lane));
  }
  add_mapped(*plan, problem, context);
  if (chosen.other_route != nullptr || chosen.with_other_stores != nullptr) {
    add_arms(*plan, chosen, problem);
  }
  return plan;
}

}  // namespace tutti
