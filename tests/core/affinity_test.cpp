// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/affinity.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace tutti {
namespace {

using Cores = std::vector<int>;

Cores range(int first, int last) {
  Cores cores(static_cast<size_t>(last - first + 1));
  std::iota(cores.begin(), cores.end(), first);
  return cores;
}

Result<Cores> assign(std::string_view list, WorkerPlacement placement, const Cores& usable,
                     const Cores& online = range(0, 63)) {
  return assign_worker_cores(*parse_core_list(list), placement, usable, online);
}

Cores cores_of(std::string_view list, WorkerPlacement placement, const Cores& usable) {
  const auto cores = assign(list, placement, usable);
  EXPECT_TRUE(cores.ok()) << cores.status().message();
  return cores.ok() ? *cores : Cores{-1};
}

std::string error_of(std::string_view list, WorkerPlacement placement, const Cores& usable,
                     const Cores& online = range(0, 63)) {
  return std::string(assign(list, placement, usable, online).status().message());
}

TEST(CoreNumbers, AreReadInTheOrderGiven) {
  EXPECT_EQ(parse_core_list("0,1,4-6")->cores, (Cores{0, 1, 4, 5, 6}));
  EXPECT_EQ(parse_core_list("9,2-2,0")->cores, (Cores{9, 2, 0}));
  EXPECT_FALSE(parse_core_list("7")->automatic);
  EXPECT_TRUE(parse_core_list("auto")->automatic);
}

TEST(CoreNumbers, ThatAreNoListAreRefused) {
  for (const char* text : {"", ",", "1,", ",1", "a", "1-", "-", "-1", "3-1", "1-2-3", "0-70000",
                           "99999999999", "1 ,2", "auto,1"}) {
    EXPECT_FALSE(parse_core_list(text).has_value()) << text;
  }
}

TEST(CoreNumbers, ArePrintedAsRanges) {
  EXPECT_EQ(format_cores(Cores{0, 1, 2, 5}), "0-2,5");
  EXPECT_EQ(format_cores(Cores{3, 2, 1}), "3,2,1");
  EXPECT_EQ(format_cores(Cores{7}), "7");
  EXPECT_EQ(format_cores(Cores{}), "none");
}

TEST(WorkerCores, AListServesTheProcessesOfAHostInOrderOfLocalRank) {
  const char* list = "0,1,2,3,28,29,31,32";
  EXPECT_EQ(cores_of(list, {4, 0, 2}, range(0, 63)), (Cores{0, 1, 2, 3}));
  EXPECT_EQ(cores_of(list, {4, 1, 2}, range(0, 63)), (Cores{28, 29, 31, 32}));
}

TEST(WorkerCores, AListOfTheWrongLengthIsAnError) {
  EXPECT_EQ(error_of("0,1,2", {2, 0, 2}, range(0, 63)),
            "CCL_WORKER_AFFINITY=0,1,2: 3 cores given, expected 4: 2 processes on this host x "
            "CCL_WORKER_COUNT=2");
  EXPECT_EQ(error_of("0", {3, 0, 1}, range(0, 63)),
            "CCL_WORKER_AFFINITY=0: 1 core given, expected 3: 1 process on this host x "
            "CCL_WORKER_COUNT=3");
}

TEST(WorkerCores, ACoreThatDoesNotExistIsAnErrorForEveryProcess) {
  for (const int local_rank : {0, 1}) {
    EXPECT_EQ(error_of("0,99", {1, local_rank, 2}, range(0, 3), range(0, 3)),
              "CCL_WORKER_AFFINITY=0,99: core 99 does not exist, expected cores of this host: 0-3");
  }
}

TEST(WorkerCores, ACoreOutsideTheProcessesOwnMaskIsAnError) {
  EXPECT_EQ(error_of("0,5", {1, 1, 2}, range(0, 3)),
            "CCL_WORKER_AFFINITY=0,5: core 5, for local rank 1, is outside the affinity mask of "
            "that process, expected one of 0-3");
}

TEST(WorkerCores, TheMasksOfOtherProcessesDoNotMatter) {
  EXPECT_EQ(cores_of("0-3", {2, 0, 2}, range(0, 1)), (Cores{0, 1}));
  EXPECT_EQ(cores_of("0-3", {2, 1, 2}, range(2, 3)), (Cores{2, 3}));
}

TEST(WorkerCores, ALocalRankBeyondTheProcessesIsAnError) {
  for (const char* list : {"auto", "0,1"}) {
    EXPECT_EQ(error_of(list, {1, 2, 2}, range(0, 3)),
              "local rank 2 of 2 on this host (CCL_LOCAL_RANK, CCL_LOCAL_SIZE): expected one from "
              "0 to 1");
  }
}

TEST(WorkerCores, AutoTakesTheLastOfTheMaskAndSharesThemOut) {
  EXPECT_EQ(cores_of("auto", {1, 0, 1}, range(0, 7)), (Cores{7}));
  EXPECT_EQ(cores_of("auto", {2, 0, 1}, (Cores{1, 3, 5, 9})), (Cores{5, 9}));
  EXPECT_EQ(cores_of("auto", {2, 0, 2}, range(0, 7)), (Cores{4, 5}));
  EXPECT_EQ(cores_of("auto", {2, 1, 2}, range(0, 7)), (Cores{6, 7}));
  EXPECT_EQ(cores_of("auto", {1, 0, 2}, range(0, 1)), (Cores{0}));
  EXPECT_EQ(cores_of("auto", {1, 1, 2}, range(0, 1)), (Cores{1}));
}

TEST(WorkerCores, AutoGivesNoCoreToTwoWorkers) {
  for (const int ranks : {1, 2, 3, 5}) {
    for (const int workers : {1, 2, 4}) {
      Cores all;
      for (int rank = 0; rank < ranks; ++rank) {
        for (const int core : cores_of("auto", {workers, rank, ranks}, range(10, 29))) {
          all.push_back(core);
        }
      }
      EXPECT_EQ(all, range(30 - ranks * workers, 29));
    }
  }
}

TEST(WorkerCores, AutoBindsNothingWhenWorkersOutnumberCores) {
  for (const int rank : {0, 1, 2, 3})
    EXPECT_EQ(cores_of("auto", {1, rank, 4}, range(0, 1)), Cores{});
  EXPECT_EQ(cores_of("auto", {64, 0, 1}, range(0, 1)), Cores{});
}

}  // namespace
}  // namespace tutti
