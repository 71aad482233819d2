// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Spoils one step of valid schedules and looks whether the verifier notices.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <random>

#include "algorithms/algorithm.hpp"
#include "sched/verify.hpp"
#include "support/processes.hpp"
#include "tests/sched/hand_made.hpp"
#include "tests/sched/random_run.hpp"

namespace tutti {
namespace {

using Schedules = std::vector<Schedule>;
using Random = std::mt19937_64;

std::vector<Problem> small_problems(Collective collective, int ranks) {
  const uint64_t lines = 64 * static_cast<uint64_t>(ranks);
  std::vector<Problem> problems;
  const Limits shared{{512}, 3 * lines + 256, lines + 64};
  Limits pulls = shared;
  pulls.pulls = true;
  for (const Limits& limits : {Limits{}, shared, pulls}) {
    // Of these, an algorithm may pull or not.
    if (limits.pulls && !is_uneven(collective)) continue;
    for (const uint64_t count : {5UL, 16UL * static_cast<uint64_t>(ranks) + 1, 300UL}) {
      Problem problem;
      problem.collective = collective;
      problem.ranks = ranks;
      problem.root = ranks / 2;
      problem.element_bytes = 4;
      problem.count = collective == Collective::kBarrier ? 0 : count;
      problem.stride = problem.count;
      problem.in_place = count == 300 && can_be_in_place(collective, true);
      problem.limits = limits;
      problems.push_back(problem);
    }
  }
  return problems;
}

Schedules build_all(const Algorithm& algorithm, Problem problem) {
  Schedules schedules;
  for (problem.rank = 0; problem.rank < problem.ranks; ++problem.rank) {
    schedules.push_back(build_schedule(algorithm, problem));
  }
  return schedules;
}

// Calls `visit` with the valid schedules of every algorithm for every small problem it applies to.
void for_all_valid(
    const std::function<void(const Algorithm&, const Problem&, const Schedules&)>& visit) {
  for (const Algorithm* algorithm : algorithms()) {
    for (const int ranks : {2, 3, 5, 8}) {
      for (const Problem& problem : small_problems(algorithm->collective, ranks)) {
        if (!algorithm->applies(problem).yes) continue;
        const Schedules valid = build_all(*algorithm, problem);
        const Status status = verify(valid, problem, {algorithm->name, algorithm->rank_order});
        ASSERT_TRUE(status.ok()) << status.message();
        visit(*algorithm, problem, valid);
      }
    }
  }
}

bool moves_data(const Step& step) {
  return step.kind != StepKind::kFence && step.kind != StepKind::kPublish &&
         step.kind != StepKind::kAwait;
}

struct Chosen {
  int rank;
  size_t step;
};

// A random step for which `wanted` holds.
std::optional<Chosen> choose(const Schedules& schedules, Random& random,
                             const std::function<bool(const Step&)>& wanted) {
  std::vector<Chosen> candidates;
  for (size_t r = 0; r < schedules.size(); ++r) {
    for (size_t i = 0; i < schedules[r].steps.size(); ++i) {
      if (wanted(schedules[r].steps[i])) candidates.push_back({static_cast<int>(r), i});
    }
  }
  if (candidates.empty()) return std::nullopt;
  return candidates[random() % candidates.size()];
}

void drop(Schedule& schedule, size_t step) {
  schedule.steps.erase(schedule.steps.begin() + static_cast<std::ptrdiff_t>(step));
}

void spoil_sources(Schedule& schedule, Step& step, Random& random) {
  Ref* sources = schedule.sources.data() + step.first_source;
  const uint64_t i = random() % step.source_count;
  switch (random() % (step.source_count > 1 ? 4 : 2)) {
    case 0: sources[i].offset += 4; break;
    case 1: step.finishes = !step.finishes; break;
    case 2: --step.source_count; break;
    default: sources[i] = sources[(i + 1) % step.source_count]; break;
  }
}

// Every change to what data goes where is one to the result.
void spoil_data(Schedule& schedule, size_t at, const Problem& problem, Random& random) {
  Step& step = schedule.steps[at];
  const bool message = step.kind == StepKind::kSend || step.kind == StepKind::kRecv;
  // What a signal carries and where it lands makes no difference.
  const uint64_t kinds = problem.collective == Collective::kBarrier ? 2 : 5;
  switch (random() % kinds) {
    case 0: return drop(schedule, at);
    case 1:
      if (!message || problem.ranks < 3) return drop(schedule, at);
      step.peer = (step.peer + 1) % problem.ranks;
      return;
    case 2: step.bytes -= 4; return;
    case 3:
      if (step.kind == StepKind::kReduce) return spoil_sources(schedule, step, random);
      // Where a block begins that is not pulled makes no difference.
      (step.kind == StepKind::kRecv || step.kind == StepKind::kWriteHead ? step.dst : step.src)
          .offset += 4;
      return;
    default:
      (step.kind == StepKind::kSend || step.kind == StepKind::kExpect ? step.src : step.dst)
          .offset += 4;
      return;
  }
}

// Says something earlier, waits later, or for less.
void spoil_order(Schedule& schedule, size_t at, const Problem& problem, Random& random) {
  Step& step = schedule.steps[at];
  if (step.kind == StepKind::kFence || random() % 3 == 0) return drop(schedule, at);
  if (step.kind == StepKind::kPublish) {
    return at > 0 ? std::swap(step, schedule.steps[at - 1]) : drop(schedule, at);
  }
  if (random() % 2 == 0 && at + 1 < schedule.steps.size()) {
    return std::swap(step, schedule.steps[at + 1]);
  }
  if (step.tick > 1) {
    --step.tick;
  } else {
    step.peer = static_cast<int>(random() % static_cast<uint64_t>(problem.ranks));
  }
}

std::string text_of(const Algorithm& algorithm, const Problem& problem, const Chosen& chosen,
                    const Schedules& valid) {
  const Schedule& schedule = valid[static_cast<size_t>(chosen.rank)];
  return fmt::format("{} {}, {} ranks, {} elements, slot {} B: rank {} step {} ({})",
                     collective_name(algorithm.collective), algorithm.name, problem.ranks,
                     problem.count, problem.limits.slots.call_bytes, chosen.rank, chosen.step,
                     to_string(schedule.steps[chosen.step], schedule));
}

TEST(Mutation, EveryMisdirectedOrMissingPieceOfDataIsNoticed) {
  Random random(1);
  for_all_valid([&](const Algorithm& algorithm, const Problem& problem, const Schedules& valid) {
    for (int i = 0; i < 40; ++i) {
      const auto chosen = choose(valid, random, moves_data);
      if (!chosen) return;
      Schedules mutant = valid;
      spoil_data(mutant[static_cast<size_t>(chosen->rank)], chosen->step, problem, random);
      EXPECT_FALSE(verify(mutant, problem, {algorithm.name, algorithm.rank_order}).ok())
          << text_of(algorithm, problem, *chosen, valid);
    }
  });
}

void expect_harmless(const Schedules& mutant, const Schedules& valid, const Problem& problem,
                     const std::string& text) {
  RandomRun reference(valid, problem, 0);
  ASSERT_TRUE(reference.run()) << text;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    RandomRun run(mutant, problem, seed);
    ASSERT_TRUE(run.run()) << "stuck with seed " << seed << ": " << text;
    ASSERT_EQ(run.results(), reference.results()) << "with seed " << seed << ": " << text;
  }
}

// Some waits are there for symmetry only, and a step may change places with one that has nothing to
// do with it: not every change is a fault. What the verifier lets pass must work.
TEST(Mutation, EveryChangeOfOrderIsNoticedOrHarmless) {
  Random random(2);
  int noticed = 0;
  int harmless = 0;
  const int changes = tutti_test::kSanitized ? 2 : 20;
  for_all_valid([&](const Algorithm& algorithm, const Problem& problem, const Schedules& valid) {
    for (int i = 0; i < changes; ++i) {
      const auto chosen = choose(valid, random, [](const Step& step) { return !moves_data(step); });
      if (!chosen) return;
      Schedules mutant = valid;
      spoil_order(mutant[static_cast<size_t>(chosen->rank)], chosen->step, problem, random);
      const bool passes = verify(mutant, problem, {algorithm.name, algorithm.rank_order}).ok();
      // Most fences only keep the number of messages under way low.
      const StepKind kind = valid[static_cast<size_t>(chosen->rank)].steps[chosen->step].kind;
      if (kind != StepKind::kFence) ++(passes ? harmless : noticed);
      if (!passes) continue;
      expect_harmless(mutant, valid, problem, text_of(algorithm, problem, *chosen, valid));
      if (testing::Test::HasFatalFailure()) return;
    }
  });
  RecordProperty("noticed", noticed);
  RecordProperty("harmless", harmless);
  EXPECT_GT(noticed, 3 * harmless);
}

TEST(Mutation, RandomRunsGoWrongWhereTheVerifierSaysSo) {
  HandMade made = one_shot(3);
  RandomRun reference(made.schedules, made.problem, 0);
  ASSERT_TRUE(reference.run());
  drop(made.schedules[1], 2);
  ASSERT_FALSE(made.proof().ok());
  int wrong = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    RandomRun run(made.schedules, made.problem, seed);
    wrong += !run.run() || run.results() != reference.results() ? 1 : 0;
  }
  EXPECT_GT(wrong, 0);
}

}  // namespace
}  // namespace tutti
