// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/simulate/job.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "core/clock.hpp"
#include "exec/plan.hpp"
#include "select/selector.hpp"

namespace tutti::simulate {
namespace {

Problem problem_of(const Question& q, const Hosts& hosts) {
  Problem problem;
  problem.collective = q.collective;
  problem.ranks = q.ranks;
  problem.root = q.root;
  problem.count = problem.stride = q.count;
  problem.element_bytes = static_cast<uint32_t>(type_size(q.type));
  problem.rank_order = reduces(q.collective) && needs_rank_order(ReduceOp::kSum, q.type);
  if (hosts.count() > 1) {
    problem.hosts = &hosts;
  } else {
    const int cores = q.cores > 0 ? q.cores : q.ranks;
    problem.limits = limits_of(q.environment, q.ranks, cores).for_calls_of(q.collective);
  }
  return problem;
}

// The choice for a phase is the same on every rank: it is made once.
Choose remembered(Selector selector) {
  using Key = std::tuple<Collective, int, int, uint64_t, uint64_t>;
  auto known = std::make_shared<std::map<Key, const Algorithm*>>();
  return [selector = std::move(selector), known](const Problem& p, DataType type) {
    const Key key{p.collective, p.ranks, p.root, p.count, p.stride};
    const auto [at, is_new] = known->try_emplace(key);
    if (is_new) at->second = selector.choose(p, type).algorithm;
    return Chosen{.algorithm = at->second};
  };
}

// Makes plans as a communicator over these hosts does (comm/lanes.cpp).
class Planner {
 public:
  static Result<std::unique_ptr<Planner>> create(const Question& q, Job& job);

  // Adds what a rank does; how many steps that is.
  Result<uint64_t> add(int rank);

 private:
  Planner(const Question& q, Job& job) : question_(q), job_(job) {}
  [[nodiscard]] PlanContext context_of(int rank) const;
  void add_phase(int rank, int stream, const Plan& plan, uint32_t after);
  void add_footprint(int rank, const Plan& plan);
  [[nodiscard]] Call call_of(int rank) const;

  const Question& question_;
  Job& job_;
  Choose whole_;
  std::array<Choose, kScopes> phases_;
  Limits limits_;
  int most_on_a_host_ = 1;
  int columns_ = 1;
};

Result<std::unique_ptr<Planner>> Planner::create(const Question& q, Job& job) {
  std::unique_ptr<Planner> planner(new Planner(q, job));
  const Environment phases = without_rules(q.environment);
  auto host = Selector::create(phases, job.within);
  auto column = Selector::create(phases, job.between);
  if (!host.ok()) return host.status();
  if (!column.ok()) return column.status();
  planner->phases_[static_cast<size_t>(Scope::kHost)] = remembered(*std::move(host));
  planner->phases_[static_cast<size_t>(Scope::kColumn)] = remembered(*std::move(column));
  planner->whole_ = [&job](const Problem&, DataType) { return Chosen{.algorithm = job.algorithm}; };
  planner->most_on_a_host_ = job.hosts.most_on_a_host();
  planner->columns_ = job.hosts.columns();
  const int cores = q.cores > 0 ? q.cores : planner->most_on_a_host_;
  planner->limits_ = limits_of(q.environment, planner->most_on_a_host_, cores);
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
    Layout each;
    for (int i = 0; i < question_.ranks; ++i) {
      each.counts.push_back(question_.count);
      each.offsets.push_back(question_.count * static_cast<uint64_t>(i));
    }
    const Layout one{{question_.count}, {0}};
    const BufferBlocks blocks = blocks_of(question_.collective, !rooted || rank == call.root);
    call.layouts = std::make_shared<Layouts>(Layouts{blocks.send == Blocks::kPerRank ? each : one,
                                                     blocks.recv == Blocks::kPerRank ? each : one});
  }
  return call;
}

void Planner::add_phase(int rank, int stream, const Plan& plan, uint32_t after) {
  Job& job = job_;
  const bool within = stream == kWithin;
  const size_t host = static_cast<size_t>(job.hosts.host(rank));
  const int place = job.places[Job::rank_at(rank)];
  const int in_scope = within ? place : job.composed ? static_cast<int>(host) : rank;
  const int ranks = within         ? static_cast<int>(job.hosts.ranks_of[host].size())
                    : job.composed ? job.hosts.count()
                                   : question_.ranks;
  Problem problem;  // as far as costs depend on it
  problem.collective = static_cast<Collective>(plan.record.collective);
  problem.ranks = ranks;
  problem.count = plan.record.count;
  problem.element_bytes = plan.element_bytes;
  problem.limits = within ? limits_ : Limits{};
  const StepCosts costs = step_costs(problem, within ? job.within : job.between);
  Schedule schedule = plan.parts.front().schedule;
  if (within && !plan.parts.front().traits.enters) {
    schedule.steps.insert(schedule.steps.begin(),
                          Step{.kind = StepKind::kPublish, .tick = 1, .dst = {}, .src = {}});
  }
  job.roles[Job::rank_at(rank)][static_cast<size_t>(stream)].push_back(
      {job.programs.of(schedule, in_scope, ranks, costs), in_scope, after});
}

PlanContext Planner::context_of(int rank) const {
  PlanContext context{.rank = rank, .ranks = question_.ranks, .limits = {}, .choose = &whole_};
  if (job_.hosts.count() > 1) {
    context.hosts = &job_.hosts;
  } else {
    context.limits = limits_;
  }
  return context;
}

// Moves of a composition, as the copies that they are.
std::shared_ptr<Plan> plan_of_moves(const ComposedPlan::Phase& phase, const Plan& whole) {
  auto plan = std::make_shared<Plan>();
  plan->record = whole.record;
  plan->element_bytes = whole.element_bytes;
  plan->parts.resize(1);
  plan->parts.front().traits.enters = true;  // nobody waits for it
  Builder builder(plan->parts.front().schedule);
  for (const Move& move : phase.moves) builder.copy(move.to, move.from, move.bytes);
  return plan;
}

void Planner::add_footprint(int rank, const Plan& plan) {
  Footprint& most = job_.most;
  const Plan::Part& part = plan.parts.front();
  const bool at_root = !has_root(question_.collective) || rank == question_.root;
  const BufferBlocks blocks = blocks_of(question_.collective, at_root);
  const uint64_t block = question_.count * type_size(question_.type);
  const auto bytes = [&](Blocks of) {
    return of == Blocks::kNone  ? 0
           : of == Blocks::kOne ? block
                                : block * static_cast<uint64_t>(question_.ranks);
  };
  most.buffer_bytes = std::max(most.buffer_bytes, bytes(blocks.send) + bytes(blocks.recv));
  uint64_t scratch = part.schedule.scratch_bytes;
  if (part.composed != nullptr) {
    scratch = part.composed->scratch_bytes;
    for (const auto& phase : part.composed->phases) {
      if (phase.plan != nullptr) scratch += phase.plan->parts.front().schedule.scratch_bytes;
    }
  }
  most.scratch_bytes = std::max(most.scratch_bytes, scratch);
  most.plan_bytes = std::max<uint64_t>(most.plan_bytes, plan.steps() * sizeof(Step));
  std::set<int> peers;
  for (const Phase& phase : job_.roles[Job::rank_at(rank)][kBetween]) {
    for (const Op& op : phase.program->ops) {
      if (op.kind != OpKind::kSend && op.kind != OpKind::kRecv) continue;
      const int peer = job_.rank_of(kBetween, rank, (phase.rank + op.apart) % phase.program->ranks);
      if (job_.hosts.host(peer) != job_.hosts.host(rank)) peers.insert(peer);
    }
  }
  most.connections = std::max(most.connections, static_cast<int>(peers.size()));
}

Result<uint64_t> Planner::add(int rank) {
  const int host = job_.hosts.host(rank);
  const int place = job_.places[Job::rank_at(rank)];
  const PlanContext within{.rank = place,
                           .ranks = static_cast<int>(job_.hosts.neighbors(rank).size()),
                           .limits = limits_,
                           .choose = &phases_[static_cast<size_t>(Scope::kHost)]};
  const PlanContext column{.rank = host,
                           .ranks = job_.hosts.count(),
                           .limits = {},
                           .choose = &phases_[static_cast<size_t>(Scope::kColumn)]};
  PlanContext context = context_of(rank);
  context.scopes = {&within, place < columns_ ? &column : nullptr};
  const Call call = call_of(rank);
  const std::shared_ptr<Plan> plan = make_plan(call, plan_key(call, rank), context);
  if (plan == nullptr) {
    return Status::format(Code::kUnsupported, "no algorithm applies to a phase of {}",
                          job_.algorithm->name);
  }
  if (plan->parts.front().composed == nullptr) {
    add_phase(rank, job_.hosts.count() > 1 ? kBetween : kWithin, *plan, 0);
  } else {
    for (const ComposedPlan::Phase& phase : plan->parts.front().composed->phases) {
      const int stream = phase.scope == Scope::kHost ? kWithin : kBetween;
      const std::shared_ptr<const Plan> own =
          phase.plan != nullptr ? phase.plan : plan_of_moves(phase, *plan);
      add_phase(rank, stream, *own, phase.after);
    }
  }
  add_footprint(rank, *plan);
  return plan->steps();
}

Status too_many(const Question& q, const Job& job, uint64_t steps) {
  return Status::format(
      Code::kUnsupported,
      "{} {} has {} steps on one rank, some {:.2g} on all {}: more than {:.2g} (--most-steps); "
      "expected fewer ranks, or an algorithm with fewer rounds",
      collective_name(q.collective), job.algorithm->name, steps,
      static_cast<double>(steps) * q.ranks, q.ranks, static_cast<double>(q.most_steps));
}

// The selector's choice, or the one that was named.
Status choose(const Question& q, Job& job) {
  Environment environment = q.environment;
  const Machine& machine = job.hosts.count() > 1 ? job.between : job.within;
  const auto selector = Selector::create(environment, machine);
  if (!selector.ok()) return selector.status();
  const Problem problem = problem_of(q, job.hosts);
  const Choice choice = selector->explain(problem, q.type);
  job.algorithm = choice.algorithm;
  job.origin = choice.origin;
  if (!q.algorithm.empty()) {
    job.algorithm = find_algorithm(q.collective, q.algorithm);
    job.origin = "--algorithm";
  }
  for (const Candidate& candidate : choice.candidates) {
    if (candidate.algorithm != job.algorithm) continue;
    job.predicted_s = candidate.seconds;
    if (candidate.applies) return {};
    return Status::format(Code::kUnsupported, "{} does not apply: {}", q.algorithm,
                          candidate.why_not);
  }
  return Status::format(Code::kInvalidArgument, "there is no {} algorithm '{}'; see tutti info",
                        collective_name(q.collective), q.algorithm);
}

void prepare(const Question& q, Job& job) {
  job.hosts = divided(q.ranks, q.hosts);
  const int most = job.hosts.most_on_a_host();
  job.within = machine_for(most, q.cores > 0 ? q.cores : most, q.machine);
  job.between = machine_across(job.hosts, q.machine, q.network);
  job.places.resize(Job::rank_at(q.ranks));
  for (const std::vector<int>& ranks : job.hosts.ranks_of) {
    for (size_t place = 0; place < ranks.size(); ++place) {
      job.places[Job::rank_at(ranks[place])] = static_cast<int>(place);
    }
  }
  job.roles.resize(Job::rank_at(q.ranks));
}

}  // namespace

Hosts divided(int ranks, int hosts) {
  Hosts divided;
  divided.ranks_of.resize(static_cast<size_t>(hosts));
  for (int rank = 0; rank < ranks; ++rank) {
    const auto host = static_cast<int>(int64_t{rank} * hosts / ranks);
    divided.host_of.push_back(host);
    divided.ranks_of[static_cast<size_t>(host)].push_back(rank);
  }
  return divided;
}

Result<std::unique_ptr<Job>> make_job(const Question& question) {
  auto job = std::make_unique<Job>();
  prepare(question, *job);
  TUTTI_RETURN_IF_ERROR(choose(question, *job));
  job->composed = job->algorithm->compose != nullptr;
  auto planner = Planner::create(question, *job);
  if (!planner.ok()) return planner.status();
  const double begun = now_s();
  for (int i = 0; i < question.ranks; ++i) {
    const int rank = (i + question.root) % question.ranks;  // the root has most to do
    const Result<uint64_t> steps = (*planner)->add(rank);
    if (!steps.ok()) return steps.status();
    job->steps += *steps;
    const bool first = i == 0 && !has_root(question.collective);
    const uint64_t estimate = first ? *steps * static_cast<uint64_t>(question.ranks) : job->steps;
    if (estimate > question.most_steps) return too_many(question, *job, *steps);
  }
  job->planned_s = now_s() - begun;
  return job;
}

Result<std::vector<const Algorithm*>> applicable(const Question& question) {
  Question any = question;
  any.algorithm.clear();
  Job job;
  prepare(any, job);
  const Machine& machine = job.hosts.count() > 1 ? job.between : job.within;
  const auto selector = Selector::create(any.environment, machine);
  if (!selector.ok()) return selector.status();
  std::vector<const Algorithm*> found;
  for (const Candidate& c : selector->explain(problem_of(any, job.hosts), any.type).candidates) {
    if (c.applies) found.push_back(c.algorithm);
  }
  return found;
}

}  // namespace tutti::simulate
