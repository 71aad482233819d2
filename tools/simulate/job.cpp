// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/simulate/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/clock.hpp"
#include "select/limits.hpp"
#include "select/machine.hpp"
#include "select/selector.hpp"
#include "tools/simulate/planner.hpp"

namespace tutti::simulate {
namespace {

Problem problem_of(const Question& q, const Hosts& hosts) {
  Problem problem;
  problem.collective = q.collective;
  problem.ranks = q.ranks;
  problem.root = q.root;
  problem.count = problem.stride = q.count;
  problem.element_bytes = static_cast<uint32_t>(type_size(q.type));
  problem.type = q.type;
  problem.rank_order = reduces(q.collective) && needs_rank_order(ReduceOp::kSum, q.type);
  if (hosts.count() > 1) {
    problem.hosts = &hosts;
  } else {
    const int cores = q.cores > 0 ? q.cores : q.ranks;
    problem.limits = limits_of(q.environment, q.ranks, cores).for_calls_of(q.collective);
  }
  return problem;
}

Status too_many(const Question& q, const Job& job, uint64_t steps) {
  const std::string calls = q.calls > 1 ? fmt::format(" in {} calls", q.calls) : "";
  return Status::format(
      Code::kUnsupported,
      "{} {} has {} steps on one rank, some {:.2g} on all {}{}: more than {:.2g} (--most-steps); "
      "expected fewer ranks{}, or an algorithm with fewer rounds",
      collective_name(q.collective), job.algorithm->name, steps,
      static_cast<double>(steps) * q.ranks * q.calls, q.ranks, calls,
      static_cast<double>(q.most_steps), calls.empty() ? "" : " or calls");
}

// The selector's choice, or the one that was named.
Status choose(const Question& q, Job& job) {
  Environment environment = q.environment;
  const Machine& machine = job.hosts.count() > 1 ? job.between : job.within;
  TUTTI_ASSIGN_OR_RETURN(const auto selector, Selector::create(environment, machine));
  const Problem problem = problem_of(q, job.hosts);
  const Choice choice = selector.explain(problem);
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

// Each rank's place among those of its host, or each host's in its group.
std::vector<int> places_in(const Hosts& hosts) {
  std::vector<int> places(hosts.host_of.size());
  for (const std::vector<int>& ranks : hosts.ranks_of) {
    for (size_t place = 0; place < ranks.size(); ++place) {
      places[Job::rank_at(ranks[place])] = static_cast<int>(place);
    }
  }
  return places;
}

void divide(const Question& q, Job& job) {
  job.hosts = divided(q.ranks, q.hosts);
  job.places = places_in(job.hosts);
  if (q.groups.empty()) return;
  std::vector<int> host_ids;
  for (const int host : job.hosts.host_of) host_ids.push_back(q.groups[static_cast<size_t>(host)]);
  job.hosts.group_by(host_ids);
  if (job.hosts.groups != nullptr) job.group_places = places_in(*job.hosts.groups);
}

void prepare(const Question& q, Job& job) {
  divide(q, job);
  const int most = job.hosts.most_on_a_host();
  job.within = machine_for(most, q.cores > 0 ? q.cores : most, q.machine);
  job.between = machine_across(job.hosts, q.machine, q.network);
  job.roles.resize(Job::rank_at(q.ranks));
}

// A plan has steps for each piece of a long block, and takes long to make. So the number is guessed
// from the first rank's plan for a shorter one. None: the block is not long.
uint64_t guessed_steps(const Question& q, const Job& job) {
  constexpr uint64_t kLong = 1 << 30;
  constexpr uint64_t kShorter = 1 << 8;
  if (q.count * type_size(q.type) <= kLong) return 0;
  Question shorter = q;
  shorter.algorithm = job.algorithm->name;
  shorter.count /= kShorter;
  shorter.most_steps = UINT64_MAX;
  Job of_shorter;
  prepare(shorter, of_shorter);
  of_shorter.algorithm = job.algorithm;
  of_shorter.composed = job.composed;
  const auto planner = Planner::create(shorter, of_shorter);
  if (!planner.ok()) return 0;
  const Result<uint64_t> steps = (*planner)->add(q.root);
  return steps.ok() ? *steps * kShorter : 0;
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
  const auto all = [&question](uint64_t steps) {
    return steps * static_cast<uint64_t>(question.ranks) * static_cast<uint64_t>(question.calls);
  };
  const uint64_t guessed = guessed_steps(question, *job);
  if (all(guessed) > question.most_steps) return too_many(question, *job, guessed);
  TUTTI_ASSIGN_OR_RETURN(auto planner, Planner::create(question, *job));
  const double begun = now_s();
  for (int i = 0; i < question.ranks; ++i) {
    const int rank = (i + question.root) % question.ranks;  // the root has most to do
    TUTTI_ASSIGN_OR_RETURN(const uint64_t steps, planner->add(rank));
    job->steps += steps;
    const bool first = i == 0 && !has_root(question.collective);
    const uint64_t estimate =
        first ? all(steps) : job->steps * static_cast<uint64_t>(question.calls);
    if (estimate > question.most_steps) return too_many(question, *job, steps);
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
  TUTTI_ASSIGN_OR_RETURN(const auto selector, Selector::create(any.environment, machine));
  std::vector<const Algorithm*> found;
  for (const Candidate& c : selector.explain(problem_of(any, job.hosts)).candidates) {
    if (c.applies) found.push_back(c.algorithm);
  }
  return found;
}

}  // namespace tutti::simulate
