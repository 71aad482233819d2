// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the variables of each launcher mean, and what is said when they make no sense.
#include "bootstrap/launcher.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>

#include "bootstrap/ancestor.hpp"
#include "bootstrap/meeting.hpp"
#include "support/processes.hpp"

namespace tutti {
namespace {

using Variables = std::map<std::string, std::string>;

Result<JobPlace> detect(const Variables& variables) {
  return detect_job([&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

// The text of the error for these variables.
std::string complaint(const Variables& variables) {
  return tutti_test::error_of(detect(variables));
}

Variables torchrun() {
  return {{"RANK", "1"},
          {"WORLD_SIZE", "4"},
          {"LOCAL_RANK", "1"},
          {"LOCAL_WORLD_SIZE", "4"},
          {"MASTER_ADDR", "h"},
          {"MASTER_PORT", "29500"},
          {"TORCHELASTIC_RUN_ID", "none"},
          {"TORCHELASTIC_RESTART_COUNT", "0"}};
}

Variables with(Variables variables, const std::string& name, const std::string& value) {
  variables[name] = value;
  return variables;
}

void expect_place(const Variables& variables, const JobPlace& expected) {
  auto place = detect(variables);
  ASSERT_TRUE(place.ok()) << place.status().message();
  EXPECT_EQ(place->rank, expected.rank);
  EXPECT_EQ(place->ranks, expected.ranks);
  EXPECT_EQ(place->local_rank, expected.local_rank);
  EXPECT_EQ(place->local_ranks, expected.local_ranks);
  EXPECT_EQ(place->launcher, expected.launcher);
}

TEST(Launcher, NobodyMeansAJobOfOne) { expect_place({}, {0, 1, 0, 1, "", "no launcher"}); }

TEST(Launcher, TuttiRunIsUnderstood) {
  expect_place({{"TUTTI_JOB", "x"},
                {"RANK", "2"},
                {"WORLD_SIZE", "3"},
                {"LOCAL_RANK", "2"},
                {"LOCAL_WORLD_SIZE", "3"}},
               {2, 3, 2, 3, "", "tutti run"});
}

TEST(Launcher, TorchrunIsUnderstood) { expect_place(torchrun(), {1, 4, 1, 4, "", "torchrun"}); }

TEST(Launcher, OpenMpiIsUnderstood) {
  expect_place({{"OMPI_COMM_WORLD_RANK", "0"},
                {"OMPI_COMM_WORLD_SIZE", "2"},
                {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                {"PMIX_NAMESPACE", "77"}},
               {0, 2, 0, 2, "", "Open MPI's mpirun"});
}

TEST(Launcher, MpichIsUnderstood) {
  expect_place(
      {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}},
      {1, 2, 1, 2, "", "MPICH's mpirun"});
}

TEST(Launcher, RankAndWorldSizeByHandAreEnough) {
  expect_place({{"RANK", "1"}, {"WORLD_SIZE", "2"}}, {1, 2, 1, 2, "", "the environment"});
}

TEST(Launcher, TheLocalPlaceMayComeFromCclVariables) {
  expect_place({{"CCL_PROCESS_LAUNCHER", "none"}, {"CCL_LOCAL_RANK", "1"}, {"CCL_LOCAL_SIZE", "2"}},
               {1, 2, 1, 2, "", "CCL_PROCESS_LAUNCHER=none"});
  expect_place({{"CCL_PROCESS_LAUNCHER", "None"},
                {"CCL_LOCAL_RANK", "0"},
                {"CCL_LOCAL_SIZE", "2"},
                {"RANK", "1"},
                {"WORLD_SIZE", "2"}},
               {1, 2, 0, 2, "", "the environment"});
  // Another launcher knows better.
  expect_place(with(torchrun(), "CCL_LOCAL_RANK", "3"), {1, 4, 1, 4, "", "torchrun"});
}

TEST(Launcher, AllRanksOfAJobHaveOneKeyAndOtherJobsAnother) {
  const auto key = [](const Variables& variables) { return detect(variables)->key; };
  const std::string first = key(torchrun());
  EXPECT_EQ(key(with(with(torchrun(), "RANK", "2"), "LOCAL_RANK", "2")), first);
  EXPECT_NE(key(with(torchrun(), "TORCHELASTIC_RESTART_COUNT", "1")), first);
  EXPECT_NE(key(with(torchrun(), "MASTER_PORT", "29501")), first);
  EXPECT_NE(key(with(torchrun(), "TUTTI_JOB", "x")), first);
  const Variables mpich = {{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}};
  EXPECT_EQ(key(mpich), key(with(mpich, "PMI_RANK", "1")));
}

TEST(Launcher, HalfAPlaceIsAnError) {
  EXPECT_NE(complaint({{"RANK", "3"}}).find("RANK is \"3\" but WORLD_SIZE is not set"),
            std::string::npos);
  EXPECT_NE(complaint({{"WORLD_SIZE", "3"}}).find("WORLD_SIZE is \"3\" but RANK is not set"),
            std::string::npos);
  EXPECT_NE(complaint({{"PMI_RANK", "0"}}).find("PMI_SIZE is not set"), std::string::npos);
  EXPECT_NE(complaint({{"TUTTI_JOB", "x"}}).find("neither RANK nor WORLD_SIZE"), std::string::npos);
  EXPECT_NE(complaint({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "0"}})
                .find("LOCAL_WORLD_SIZE is not set"),
            std::string::npos);
}

TEST(Launcher, WhatIsNoRankOrSizeIsAnError) {
  for (const char* rank : {"abc", "", " 1", "1x", "-1", "1.5", "99999999999"}) {
    const std::string text = complaint({{"RANK", rank}, {"WORLD_SIZE", "2"}});
    EXPECT_NE(
        text.find("RANK is \"" + std::string(rank) + "\": expected a whole number, at least 0"),
        std::string::npos)
        << text;
  }
  EXPECT_NE(complaint({{"RANK", "0"}, {"WORLD_SIZE", "0"}}).find("WORLD_SIZE is \"0\": expected"),
            std::string::npos);
  EXPECT_NE(complaint({{"RANK", "5"}, {"WORLD_SIZE", "2"}})
                .find("RANK is \"5\" and WORLD_SIZE is \"2\": expected a rank from 0 to 1"),
            std::string::npos);
}

TEST(Launcher, SeveralHostsAreNotOfThisRelease) {
  auto place = detect(with(with(torchrun(), "WORLD_SIZE", "8"), "RANK", "5"));
  EXPECT_EQ(place.status().code(), Code::kUnsupported);
  EXPECT_NE(tutti_test::error_of(place).find("LOCAL_WORLD_SIZE is \"4\" and WORLD_SIZE is \"8\""),
            std::string::npos);
}

TEST(Launcher, MoreProcessesOnTheHostThanInAllAreAnError) {
  EXPECT_NE(complaint(with(torchrun(), "LOCAL_WORLD_SIZE", "5")).find("at most as many"),
            std::string::npos);
}

TEST(Launcher, EachCommunicatorOfAProcessHasItsOwnIdInTheSameOrderOnAllRanks) {
  tutti_test::run_processes({3, tutti_test::kLimit, {}}, [](int rank) {
    const JobPlace place{rank, 3, rank, 3, "test " + std::to_string(getppid()), "the test"};
    for (int i = 0; i < 3; ++i) {
      auto exchange = join_job(place, now_ms() + tutti_test::kLongMs);
      ASSERT_TRUE(exchange.ok()) << tutti_test::error_of(exchange);
      EXPECT_TRUE((*exchange)->allgather({}).ok());
    }
  });
}

TEST(Launcher, AJobOfOneMeetsNobody) {
  auto exchange = join_job({0, 1, 0, 1, "alone", "no launcher"}, now_ms());
  ASSERT_TRUE(exchange.ok());
  EXPECT_EQ((*exchange)->ranks(), 1);
}

// This program, started by `sh -c "sh -c ..."` with the variable set in front of the first.
std::string launcher_seen_through_shells(const char* nesting) {
  char own[4096] = {};
  EXPECT_GT(readlink("/proc/self/exe", own, sizeof own - 1), 0);
  std::string command = "MARK_OF_TEST=1 ";
  command += nesting;
  const size_t at = command.find("PROGRAM");
  command.replace(at, 7, std::string(own) + " --gtest_filter=*PrintsItsLaunchingProcess");
  FILE* pipe = popen(command.c_str(), "r");
  std::string output;
  char line[256];
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    if (std::string(line).starts_with("launched by")) output = line;
  }
  pclose(pipe);
  return output;
}

TEST(Launcher, PrintsItsLaunchingProcess) {
  std::printf("launched by %s\n", launching_process("MARK_OF_TEST").c_str());
}

TEST(Launcher, TheLaunchingProcessIsSeenThroughAnyNumberOfShells) {
  const std::string direct = launcher_seen_through_shells("exec PROGRAM");
  const std::string nested =
      launcher_seen_through_shells("exec sh -c 'sh -c \"PROGRAM; true\"; true'");
  EXPECT_EQ(direct.find("launched by pid " + std::to_string(getpid()) + " started at"), 0u)
      << direct;
  EXPECT_EQ(nested, direct);
}

}  // namespace
}  // namespace tutti
