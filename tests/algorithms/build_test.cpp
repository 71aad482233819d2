// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What every schedule promises its executor, besides the right result, which `tutti verify` proves.
#include <gtest/gtest.h>

#include "problems.hpp"
#include "sched/traits.hpp"
#include "support/processes.hpp"

namespace tutti {
namespace {

std::string name_of(const Algorithm& algorithm, const Problem& problem) {
  return std::string(collective_name(algorithm.collective)) + " " + std::string(algorithm.name) +
         ", rank " + std::to_string(problem.rank) + " of " + std::to_string(problem.ranks) + ", " +
         std::to_string(problem.count) + " elements";
}

// On the first, a middle and the last rank.
void for_every_schedule(
    const std::function<void(const Algorithm&, const Problem&, const Schedule&)>& visit) {
  for_every_problem([&](const Algorithm& algorithm, Problem problem) {
    for (const int rank : {0, problem.root, problem.ranks - 1}) {
      problem.rank = rank;
      SCOPED_TRACE(name_of(algorithm, problem));
      visit(algorithm, problem, build_schedule(algorithm, problem));
    }
  });
}

TEST(Algorithms, EachIsFoundByItsName) {
  for (const Algorithm* algorithm : algorithms()) {
    EXPECT_EQ(find_algorithm(algorithm->collective, algorithm->name), algorithm);
    EXPECT_FALSE(algorithm->summary.empty());
  }
  EXPECT_EQ(find_algorithm(Collective::kAllreduce, "no_such"), nullptr);
}

TEST(Algorithms, EachExplainsWhyItDoesNotApply) {
  Problem problem;
  problem.ranks = 4;
  problem.count = problem.stride = 1 << 20;
  for (const Limits& limits : {Limits{}, shared_limits()}) {
    problem.limits = limits;
    for (const Algorithm* algorithm : algorithms()) {
      problem.collective = algorithm->collective;
      const Applies applies = algorithm->applies(problem);
      EXPECT_EQ(applies.yes, applies.why_not.empty()) << algorithm->name;
    }
  }
}

TEST(Algorithms, CostsTimeAndMoreForMore) {
  for_every_problem([](const Algorithm& algorithm, Problem problem) {
    if (problem.ranks == 1) return;
    const double seconds = algorithm.seconds(problem, Machine());
    EXPECT_GT(seconds, 0) << name_of(algorithm, problem);
    problem.count *= 2;
    EXPECT_GE(algorithm.seconds(problem, Machine()), seconds) << name_of(algorithm, problem);
  });
}

TEST(Algorithms, TicksBeginAtOneAndIncrease) {
  for_every_schedule([](const Algorithm&, const Problem&, const Schedule& schedule) {
    uint32_t last = 0;
    for (const Step& step : schedule.steps) {
      if (step.kind != StepKind::kPublish) continue;
      EXPECT_TRUE(last == 0 ? step.tick == 1 : step.tick > last);
      last = step.tick;
    }
    EXPECT_LE(last, schedule.ticks);
  });
}

TEST(Algorithms, AllRanksAgreeOnTheHighestTick) {
  constexpr int kApart = tutti_test::kSanitized ? 5 : 1;  // they take long, and see as much in some
  for_every_problem([](const Algorithm& algorithm, Problem problem) {
    const Schedule first = build_schedule(algorithm, problem);
    const uint32_t ticks = first.ticks;
    uint32_t published = 1;
    for (problem.rank = 0; problem.rank < problem.ranks; problem.rank += kApart) {
      const Schedule schedule = build_schedule(algorithm, problem);
      EXPECT_EQ(schedule.ticks, ticks) << name_of(algorithm, problem);
      for (const Step& step : schedule.steps) published = std::max(published, step.tick);
    }
    // Where no rank knows all sizes, there may be a tick for longer blocks than these; and the rank
    // with the last may be one of those left out.
    const bool shows = first.slot_extent > 0 || kApart > 1;
    EXPECT_TRUE(shows ? published <= ticks : published == ticks) << name_of(algorithm, problem);
  });
}

TEST(Algorithms, AlgorithmsOfMessagesTouchNoSharedMemory) {
  for_every_schedule([](const Algorithm&, const Problem& problem, const Schedule& schedule) {
    if (problem.limits.slots.shared()) return;
    for (const Step& step : schedule.steps) {
      EXPECT_NE(step.kind, StepKind::kPublish);
      EXPECT_NE(step.kind, StepKind::kAwait);
      EXPECT_LT(step.dst.base, 3U);
      EXPECT_LT(step.src.base, 3U);
    }
  });
}

TEST(Algorithms, WriteOnlyWhatIsTheirOwn) {
  for_every_schedule([](const Algorithm&, const Problem& problem, const Schedule& schedule) {
    for (const Step& step : schedule.steps) {
      if (step.kind != StepKind::kCopy && step.kind != StepKind::kReduce) continue;
      EXPECT_NE(step.dst.space(), Space::kSend);
      EXPECT_TRUE(step.dst.peer() < 0 || step.dst.peer() == problem.rank);
    }
  });
}

TEST(Algorithms, UseNoMoreOfTheirSlotsThanCallsKeepFree) {
  for_every_schedule([](const Algorithm&, const Problem& problem, const Schedule& schedule) {
    const uint64_t extent = schedule.slot_extent > 0 ? schedule.slot_extent : problem.slot_extent();
    for (const Step& step : schedule.steps) {
      if (step.kind != StepKind::kCopy && step.kind != StepKind::kReduce) continue;
      if (step.dst.space() != Space::kSlot) continue;
      EXPECT_LE(step.dst.offset + step.bytes, extent);
    }
  });
}

// What a rank that may end first leaves behind is one line or slot, which the next calls respect.
TEST(Algorithms, ThoseThatRunAheadWaitForNobodysProgressAndNeedNobodyToWait) {
  for_every_schedule([](const Algorithm&, const Problem&, const Schedule& schedule) {
    if (!traits_of(schedule).runs_ahead) return;
    EXPECT_FALSE(schedule.exports_buffers);
    for (const Step& step : schedule.steps) {
      EXPECT_NE(step.kind, StepKind::kSend);
      EXPECT_NE(step.kind, StepKind::kRecv);
      EXPECT_NE(step.kind, StepKind::kPull);
      EXPECT_NE(step.dst.space(), Space::kWindow);
      EXPECT_FALSE(step.kind == StepKind::kAwait && step.peer == kAllPeers);
    }
  });
}

TEST(Algorithms, StoreNonTemporallyOnlyToTheReceiveBuffer) {
  for_every_schedule([](const Algorithm&, const Problem&, const Schedule& schedule) {
    for (const Step& step : schedule.steps) {
      EXPECT_TRUE(!step.non_temporal || step.dst.space() == Space::kRecv);
    }
  });
}

TEST(Algorithms, RankOrderMeansOneReductionOfAllRanks) {
  for_every_schedule([](const Algorithm& algorithm, const Problem& problem, const Schedule& s) {
    if (!algorithm.rank_order || !reduces(algorithm.collective)) return;
    for (const Step& step : s.steps) {
      if (step.kind != StepKind::kReduce) continue;
      EXPECT_TRUE(step.finishes);
      EXPECT_EQ(step.source_count, static_cast<uint32_t>(problem.ranks));
    }
  });
}

// Otherwise ranks whose calls differ in it could not work together.
TEST(Algorithms, PublishTheSameInPlaceAndOutOfPlace) {
  const auto publishes = [](const Schedule& schedule) {
    std::vector<uint32_t> ticks;
    for (const Step& step : schedule.steps) {
      if (step.kind == StepKind::kPublish) ticks.push_back(step.tick);
    }
    return ticks;
  };
  for_every_problem([&](const Algorithm& algorithm, Problem problem) {
    if (!can_be_in_place(algorithm.collective, true)) return;
    for (const int rank : {0, problem.root}) {
      problem.rank = rank;
      problem.in_place = false;
      const auto out_of_place = publishes(build_schedule(algorithm, problem));
      problem.in_place = true;
      EXPECT_EQ(publishes(build_schedule(algorithm, problem)), out_of_place)
          << name_of(algorithm, problem);
    }
  });
}

}  // namespace
}  // namespace tutti
