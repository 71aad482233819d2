// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/simulate/planner.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "select/limits.hpp"

namespace tutti::simulate {
namespace {

// The choice for a phase is the same on every rank: it is made once.
Choose remembered(Selector selector) {
  using Key = std::tuple<Collective, int, int, uint64_t, uint64_t>;
  auto known = std::make_shared<std::map<Key, const Algorithm*>>();
  return [selector = std::move(selector), known](const Problem& p) {
    const Key key{p.collective, p.ranks, p.root, p.count, p.stride};
    const auto [at, is_new] = known->try_emplace(key);
    if (is_new) at->second = selector.choose(p).algorithm;
    return Chosen{.algorithm = at->second};
  };
}

// Chooses like CCL_<COLLECTIVE>=hierarchical, which holds for columns whose hosts are in groups,
// too.
Choose hierarchical_first(Choose other) {
  return [other = std::move(other)](const Problem& p) {
    const Algorithm* const algorithm = find_algorithm(p.collective, "hierarchical");
    if (algorithm == nullptr || !algorithm->applies(p).yes) return other(p);
    return Chosen{.algorithm = algorithm};
  };
}

// Moves of a composition, as the copies and reductions that they are.
std::shared_ptr<Plan> plan_of_moves(const ComposedPlan::Phase& phase, const Plan& whole) {
  auto plan = std::make_shared<Plan>();
  plan->record = whole.record;
  plan->element_bytes = whole.element_bytes;
  LanePlan& lane_plan = std::get<LanePlan>(plan->lanes.emplace_back());
  lane_plan.traits.enters = true;  // nobody waits for it
  Builder builder(lane_plan.schedule);
  for (const Move& move : phase.moves) {
    if (move.others.empty()) {
      builder.copy(move.to, move.from, move.bytes);
      continue;
    }
    std::vector<Ref> sources = {move.from};
    sources.insert(sources.end(), move.others.begin(), move.others.end());
    builder.reduce(move.to, sources, move.bytes, true);
  }
  return plan;
}

}  // namespace

Result<std::unique_ptr<Planner>> Planner::create(const Question& q, Job& job) {
  std::unique_ptr<Planner> planner(new Planner(q, job));
  TUTTI_ASSIGN_OR_RETURN(planner->phases_, ScopeChoices::create({.hosts = job.hosts,
                                                                 .network = q.network,
                                                                 .variables = q.environment,
                                                                 .host = job.within,
                                                                 .across = job.between},
                                                                remembered));
  if (q.algorithm == "hierarchical") {
    for (Choose* choose : {&planner->phases_.in_column[static_cast<size_t>(InColumn::kAll)],
                           &planner->phases_.alone_in_column}) {
      if (*choose) *choose = hierarchical_first(std::move(*choose));
    }
  }
  planner->whole_ = [&job](const Problem&) { return Chosen{.algorithm = job.algorithm}; };
  const int most = job.hosts.most_on_a_host();
  planner->limits_ = limits_of(q.environment, most, q.cores > 0 ? q.cores : most);
  return planner;
}

Call Planner::call_of(int rank) const {
  Call call;
  call.collective = question_.collective;
  call.type = question_.type;
  call.count = question_.count;
  const bool rooted = has_root(question_.collective);
  call.root = rooted ? question_.root : -1;
  // Buffers that nothing reads: only whether they coincide counts, and they do not.
  call.send = reinterpret_cast<const void*>(uintptr_t{1} << 56);
  call.recv = reinterpret_cast<void*>(uintptr_t{2} << 56);
  if (is_uneven(question_.collective)) {
    BlockLayout each;
    for (int i = 0; i < question_.ranks; ++i) {
      each.counts.push_back(question_.count);
      each.offsets.push_back(question_.count * static_cast<uint64_t>(i));
    }
    const BlockLayout one{{question_.count}, {0}};
    const BufferBlocks blocks = blocks_of(question_.collective, !rooted || rank == call.root);
    call.layouts =
        std::make_shared<BlockLayouts>(BlockLayouts{blocks.send == Blocks::kPerRank ? each : one,
                                                    blocks.recv == Blocks::kPerRank ? each : one});
  }
  return call;
}

void Planner::add_phase(int rank, int stream, const PlanContext& scope, const Plan& plan,
                        const Counts& after) {
  Job& job = job_;
  const bool within = stream == kWithin;
  Problem problem;  // as far as costs depend on it
  problem.collective = static_cast<Collective>(plan.record.collective);
  problem.ranks = scope.ranks;
  problem.count = plan.record.count;
  problem.element_bytes = plan.element_bytes;
  problem.limits = scope.limits;
  const StepCosts costs = step_costs(problem, within ? job.within : job.between);
  Schedule schedule = plan.scheduled()->schedule;
  if (within && !plan.scheduled()->traits.enters) {
    schedule.steps.insert(schedule.steps.begin(),
                          Step{.kind = StepKind::kPublish, .tick = 1, .dst = {}, .src = {}});
  }
  job.roles[Job::rank_at(rank)][static_cast<size_t>(stream)].push_back(
      {job.programs.of(schedule, scope.rank, scope.ranks, costs), scope.rank, after});
}

void Planner::add_footprint(int rank, const Plan& plan) {
  Footprint& most = job_.most;
  const bool at_root = !has_root(question_.collective) || rank == question_.root;
  const BufferBlocks blocks = blocks_of(question_.collective, at_root);
  const uint64_t block = question_.count * type_size(question_.type);
  const auto bytes = [&](Blocks of) {
    return of == Blocks::kNone  ? 0
           : of == Blocks::kOne ? block
                                : block * static_cast<uint64_t>(question_.ranks);
  };
  most.buffer_bytes = std::max(most.buffer_bytes, bytes(blocks.send) + bytes(blocks.recv));
  uint64_t scratch = 0;
  if (const LanePlan* const lane_plan = plan.scheduled()) {
    scratch = lane_plan->schedule.scratch_bytes;
  } else {
    scratch = plan.composed()->scratch_bytes;
    for (const auto& phase : plan.composed()->phases) {
      const LanePlan* const own = phase.plan != nullptr ? phase.plan->scheduled() : nullptr;
      if (own != nullptr) scratch += own->schedule.scratch_bytes;
    }
  }
  most.scratch_bytes = std::max(most.scratch_bytes, scratch);
  most.plan_bytes = std::max<uint64_t>(most.plan_bytes, plan.steps() * sizeof(Step));
  std::set<int> peers;
  for (const int stream : {kBetween, kInGroup, kAcross}) {
    for (const Phase& phase : job_.roles[Job::rank_at(rank)][static_cast<size_t>(stream)]) {
      for (const Op& op : phase.program->ops) {
        if (op.kind != OpKind::kSend && op.kind != OpKind::kRecv) continue;
        const int peer = job_.rank_of(stream, rank, (phase.rank + op.apart) % phase.program->ranks);
        if (job_.hosts.host(peer) != job_.hosts.host(rank)) peers.insert(peer);
      }
    }
  }
  most.connections = std::max(most.connections, static_cast<int>(peers.size()));
}

Planner::Counts Planner::counts_of(int rank) const {
  Counts counts{};
  for (size_t stream = 0; stream < kStreams; ++stream) {
    counts[stream] = static_cast<uint32_t>(job_.roles[Job::rank_at(rank)][stream].size());
  }
  return counts;
}

// Adds a phase of a column that is a composition. Its phases begin when those before it in the
// column are complete, and those of its host that it waits for.
void Planner::add_in_groups(int rank, const Contexts& scopes, const Plan& plan,
                            const ComposedPlan& composed, const Counts& after) {
  for (const ComposedPlan::Phase& phase : composed.phases) {
    const bool in_group = phase.scope == Scope::kHost;
    const int stream = in_group ? kInGroup : kAcross;
    Counts needed = after;
    needed[in_group ? kAcross : kInGroup] += phase.after;
    add_phase(rank, stream, *scopes[static_cast<size_t>(stream)],
              phase.plan != nullptr ? *phase.plan : *plan_of_moves(phase, plan), needed);
  }
}

void Planner::add_composed(int rank, const Contexts& scopes, const Plan& plan) {
  std::vector<Counts> columns = {
      Counts{}};  // how many phases of each stream so many of a column are
  for (const ComposedPlan::Phase& phase : plan.composed()->phases) {
    const std::shared_ptr<const Plan> own =
        phase.plan != nullptr ? phase.plan : plan_of_moves(phase, plan);
    if (phase.scope == Scope::kHost) {
      add_phase(rank, kWithin, *scopes[kWithin], *own, columns[phase.after]);
      continue;
    }
    Counts after = columns.back();
    after[kWithin] = phase.after;
    const ComposedPlan* const composed = own->composed();
    if (composed == nullptr) {
      add_phase(rank, kBetween, *scopes[kBetween], *own, after);
    } else {
      add_in_groups(rank, scopes, *own, *composed, after);
    }
    columns.push_back(counts_of(rank));
    columns.back()[kWithin] = 0;
  }
}

Result<uint64_t> Planner::add(int rank) {
  PlanContext context{.rank = rank, .ranks = question_.ranks, .limits = {}, .choose = &whole_};
  const bool spans_hosts = job_.hosts.count() > 1;
  if (!spans_hosts) context.limits = limits_;
  if (spans_hosts) context.hosts = &job_.hosts;
  std::optional<Scopes> scopes;
  Contexts contexts{};
  if (job_.composed) {
    scopes.emplace(job_.hosts, rank, phases_, PlanContext{.limits = limits_});
    context.scopes = scopes->of_call();
    contexts = {&scopes->on_host(), scopes->in_column(InColumn::kAll),
                scopes->in_column(InColumn::kGroup), scopes->in_column(InColumn::kAcross)};
  }
  const Call call = call_of(rank);
  const std::shared_ptr<Plan> plan = make_plan(call, plan_key(call, rank), context);
  if (plan == nullptr) {
    return Status::format(Code::kUnsupported, "no algorithm applies to a phase of {}",
                          job_.algorithm->name);
  }
  if (plan->composed() == nullptr) {
    add_phase(rank, spans_hosts ? kBetween : kWithin, context, *plan, {});
  } else {
    for (const ComposedPlan::Phase& phase : plan->composed()->phases) {
      if (context.scopes[static_cast<size_t>(phase.scope)] != nullptr) continue;
      return Status::format(Code::kInternal, "rank {} is not in the scope of a phase of {}", rank,
                            job_.algorithm->name);
    }
    add_composed(rank, contexts, *plan);
  }
  add_footprint(rank, *plan);
  return plan->steps();
}

}  // namespace tutti::simulate
