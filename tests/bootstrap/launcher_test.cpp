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
  const Variables named = {{"TUTTI_JOB", "x"}, {"RANK", "0"}, {"WORLD_SIZE", "2"}};
  EXPECT_EQ(key(named), key(with(named, "RANK", "1")));
  EXPECT_NE(key(with(named, "MASTER_PORT", "29500")), key(with(named, "MASTER_PORT", "29501")));
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
  EXPECT_NE(complaint({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_WORLD_SIZE", "2"}})
                .find("LOCAL_RANK is not set"),
            std::string::npos);
}

TEST(Launcher, AMasterThatCannotBeReachedIsAnErrorOnOneHostToo) {
  const Variables by_hand = {
      {"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "29500"}};
  const Variables by_ccl = {
      {"CCL_PROCESS_LAUNCHER", "none"}, {"CCL_LOCAL_RANK", "0"}, {"CCL_LOCAL_SIZE", "2"}};
  for (const Variables& job : {by_hand, torchrun(), by_ccl}) {
    EXPECT_EQ(complaint(job), "");
    for (const char* port : {"0", "99999", "abc", ""}) {
      const std::string text = complaint(with(job, "MASTER_PORT", port));
      EXPECT_NE(text.find("MASTER_PORT is \"" + std::string(port) + "\": expected"),
                std::string::npos)
          << text;
    }
    EXPECT_NE(complaint(with(job, "MASTER_ADDR", "")).find("MASTER_ADDR is \"\": expected"),
              std::string::npos);
  }
  EXPECT_EQ(complaint({{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"MASTER_PORT", "0"}}), "");
}

TEST(Launcher, AWorldOfOneInAJobOfSeveralNamesBoth) {
  const auto sizes = [](const Variables& variables) {
    return larger_job([&](const std::string& name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    });
  };
  EXPECT_EQ(sizes({{"WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}}),
            "WORLD_SIZE is \"1\", OMPI_COMM_WORLD_SIZE is \"2\"");
  EXPECT_EQ(sizes({{"WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_SIZE", "1"}}), "");
  EXPECT_EQ(sizes({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}), "SLURM_NTASKS is \"4\"");
  EXPECT_EQ(sizes({{"SLURM_NTASKS", "4"}}), "");
  EXPECT_EQ(sizes({}), "");
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

// ---- several hosts ------------------------------------------------------------------------------

Route route_of(const Variables& variables) {
  auto place = detect(variables);
  EXPECT_TRUE(place.ok()) << place.status().message();
  return place.ok() ? place->route : Route{};
}

// torchrun's on two hosts of four processes each.
Variables two_hosts() { return with(with(torchrun(), "WORLD_SIZE", "8"), "RANK", "5"); }

Variables slurm() {
  return {{"SLURM_PROCID", "3"},
          {"SLURM_STEP_NUM_TASKS", "5"},
          {"SLURM_LOCALID", "1"},
          {"SLURM_NODEID", "1"},
          {"SLURM_STEP_TASKS_PER_NODE", "2(x2),1"},
          {"SLURM_STEP_NODELIST", "node[07-09]"},
          {"SLURM_JOB_ID", "12"},
          {"SLURM_STEP_ID", "0"}};
}

TEST(Launcher, RanksOfOneHostNeedNoWayToMeet) {
  EXPECT_EQ(route_of(torchrun()).kind, Route::Kind::kOneHost);
  EXPECT_EQ(route_of(with(torchrun(), "TUTTI_MEETING_FILE", "/tmp/x")).kind, Route::Kind::kOneHost);
  EXPECT_EQ(route_of({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "127.0.0.1"}}).kind,
            Route::Kind::kOneHost);
}

TEST(Launcher, ALocalRankAloneSaysNothingOfHosts) {
  const Variables by_script = {{"RANK", "3"}, {"WORLD_SIZE", "4"}, {"LOCAL_RANK", "1"}};
  expect_place(by_script, {3, 4, 3, 4, "", "the environment"});
  EXPECT_EQ(route_of(by_script).kind, Route::Kind::kOneHost);
  EXPECT_EQ(route_of(with(by_script, "MASTER_ADDR", "node7")).kind, Route::Kind::kAddress);
  EXPECT_NE(complaint(with(by_script, "LOCAL_RANK", "x")).find("LOCAL_RANK is \"x\""),
            std::string::npos);
}

TEST(Launcher, RankZeroServesAtThePortAfterTheMasters) {
  const Route route = route_of(two_hosts());
  EXPECT_EQ(route.kind, Route::Kind::kAddress);
  EXPECT_EQ(route.host, "h");
  EXPECT_EQ(route.port, 29501);
  EXPECT_EQ(route_of(with(two_hosts(), "MASTER_PORT", "65535")).port, 65534);
  // An address of the network by hand may mean several hosts.
  EXPECT_EQ(route_of({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "10.0.0.1"}}).kind,
            Route::Kind::kAddress);
}

TEST(Launcher, TheUserMayGiveTheAddressOrThePort) {
  EXPECT_EQ(route_of(with(two_hosts(), "CCL_KVS_IP_PORT", "4000")).port, 4000);
  EXPECT_EQ(route_of(with(two_hosts(), "CCL_KVS_IP_PORT", "4000")).host, "h");
  for (const char* address : {"10.1.2.3_4000", "10.1.2.3:4000"}) {
    const Route route = route_of(with(slurm(), "CCL_KVS_IP_PORT", address));
    EXPECT_EQ(route.kind, Route::Kind::kAddress);
    EXPECT_EQ(route.host, "10.1.2.3");
    EXPECT_EQ(route.port, 4000);
  }
  for (const char* bad : {"0", "65536", "10.1.2.3_", "10.1.2.3:port", "_", "x"}) {
    EXPECT_NE(complaint(with(two_hosts(), "CCL_KVS_IP_PORT", bad)).find("CCL_KVS_IP_PORT is"),
              std::string::npos)
        << bad;
  }
  EXPECT_NE(complaint(with(two_hosts(), "MASTER_PORT", "x")).find("MASTER_PORT is \"x\""),
            std::string::npos);
}

TEST(Launcher, AFileOrMpiIsUsedWhereTheUserSaysSo) {
  const Route file = route_of(with(two_hosts(), "TUTTI_MEETING_FILE", "/net/x"));
  EXPECT_EQ(file.kind, Route::Kind::kFile);
  EXPECT_EQ(file.file, "/net/x");
  EXPECT_EQ(route_of(with(two_hosts(), "CCL_KVS_MODE", "MPI")).kind, Route::Kind::kMpi);
  EXPECT_EQ(route_of(with(two_hosts(), "CCL_KVS_MODE", "pmi")).kind, Route::Kind::kAddress);
}

TEST(Launcher, HydraOverSeveralHostsIsAskedOverPmi) {
  const Variables hydra = {{"PMI_RANK", "1"},
                           {"PMI_SIZE", "2"},
                           {"MPI_LOCALRANKID", "0"},
                           {"MPI_LOCALNRANKS", "1"},
                           {"PMI_FD", "9"}};
  const Route route = route_of(hydra);
  EXPECT_EQ(route.kind, Route::Kind::kPmi);
  EXPECT_EQ(route.pmi_fd, 9);
  EXPECT_NE(complaint(with(hydra, "PMI_FD", "x")).find("PMI_FD is \"x\""), std::string::npos);
  EXPECT_NE(complaint({{"PMI_PORT", "h:1"}, {"PMI_ID", "0"}}).find("-pmi-port"), std::string::npos);
}

TEST(Launcher, OpenMpiOverSeveralHostsIsAskedOverPmix) {
  EXPECT_EQ(route_of({{"OMPI_COMM_WORLD_RANK", "0"},
                      {"OMPI_COMM_WORLD_SIZE", "2"},
                      {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                      {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"},
                      {"PMIX_NAMESPACE", "77"}})
                .kind,
            Route::Kind::kPmix);
}

TEST(Launcher, SlurmIsUnderstood) {
  expect_place(slurm(), {3, 5, 1, 2, "", "Slurm's srun"});
  Variables last = with(with(slurm(), "SLURM_NODEID", "2"), "SLURM_PROCID", "4");
  expect_place(with(last, "SLURM_LOCALID", "0"), {4, 5, 0, 1, "", "Slurm's srun"});
  // What runs in a batch script itself belongs to no step.
  expect_place({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_JOB_ID", "12"}},
               {0, 1, 0, 1, "", "no launcher"});
  expect_place({{"SLURM_NTASKS", "4"}, {"SLURM_JOB_ID", "12"}}, {0, 1, 0, 1, "", "no launcher"});
  expect_place({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}},
               {0, 1, 0, 1, "", "no launcher"});
  for (const char* bad : {"x", "2(x1)", "2(y2)", "0", "2(x"}) {
    EXPECT_NE(complaint(with(slurm(), "SLURM_STEP_TASKS_PER_NODE", bad)).find(bad),
              std::string::npos)
        << bad;
  }
}

TEST(Launcher, SlurmIsUnderstoodByWhatTheJobSaysWhereTheStepIsMissing) {
  const auto without = [](Variables variables, const std::string& beginning) {
    std::erase_if(variables, [&](const auto& one) { return one.first.starts_with(beginning); });
    return variables;
  };
  for (const char* rank : {"0", "1"}) {
    expect_place({{"SLURM_PROCID", rank}, {"SLURM_NTASKS", "2"}},
                 {rank[0] - '0', 2, rank[0] - '0', 2, "", "Slurm's srun"});
  }
  const Variables job = with(with(with(without(slurm(), "SLURM_STEP_"), "SLURM_NTASKS", "5"),
                                  "SLURM_TASKS_PER_NODE", "2(x2),1"),
                             "SLURM_JOB_NODELIST", "node[07-09]");
  expect_place(job, {3, 5, 1, 2, "", "Slurm's srun"});
  EXPECT_EQ(route_of(job).host, "node07");
  // Nothing says how many there are, or which one this is.
  EXPECT_NE(complaint({{"SLURM_PROCID", "1"}}).find("SLURM_STEP_NUM_TASKS is not set"),
            std::string::npos);
  EXPECT_NE(complaint(without(slurm(), "SLURM_PROCID")).find("SLURM_PROCID is not set"),
            std::string::npos);
}

TEST(Launcher, VariablesOfOneOfSeveralProcessesThatDoNotSayWhichAreAnError) {
  for (const char* size :
       {"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "CCL_LOCAL_SIZE"}) {
    EXPECT_NE(complaint({{size, "2"}}).find(std::string(size) + " is \"2\", so this is one of"),
              std::string::npos)
        << size;
    expect_place({{size, "1"}}, {0, 1, 0, 1, "", "no launcher"});
  }
  EXPECT_NE(complaint({{"PMIX_RANK", "1"}}).find("PMIX_RANK is \"1\", so this is one of"),
            std::string::npos);
}

TEST(Launcher, VariablesThatSayWhatSlurmSaysLeaveTheMeetingToSlurm) {
  const Variables same = with(with(slurm(), "RANK", "3"), "WORLD_SIZE", "5");
  expect_place(same, {3, 5, 1, 2, "", "Slurm's srun"});
  expect_place(with(same, "MASTER_ADDR", "127.0.0.1"), {3, 5, 1, 2, "", "Slurm's srun"});
  expect_place(with(same, "MASTER_ADDR", "node07"), {3, 5, 3, 5, "", "the environment"});
  expect_place(with(same, "RANK", "2"), {2, 5, 2, 5, "", "the environment"});
}

TEST(Launcher, SlurmOverSeveralHostsIsAskedByWhatItServes) {
  const Route pmi =
      route_of(with(with(with(with(slurm(), "PMI_FD", "9"), "PMI_JOBID", "12.0"), "PMI_RANK", "3"),
                    "PMI_SIZE", "5"));
  EXPECT_EQ(pmi.kind, Route::Kind::kPmi);
  EXPECT_EQ(pmi.pmi_fd, 9);
  EXPECT_EQ(route_of(with(slurm(), "PMIX_NAMESPACE", "slurm.pmix.12.0")).kind, Route::Kind::kPmix);
}

TEST(Launcher, SlurmWithoutPmiMeetsAtItsFirstNode) {
  const std::map<std::string, std::string> first_hosts = {
      {"node[07-09]", "node07"}, {"a,b", "a"},       {"one", "one"},
      {"a[1,5]-ib,b", "a1-ib"},  {"n[3-4],m", "n3"}, {"x,n[1-2]", "x"}};
  for (const auto& [list, host] : first_hosts) {
    const Route route = route_of(with(slurm(), "SLURM_STEP_NODELIST", list));
    EXPECT_EQ(route.kind, Route::Kind::kAddress);
    EXPECT_EQ(route.host, host);
    EXPECT_GE(route.port, 20000);
    EXPECT_LT(route.port, 30000);
  }
  EXPECT_NE(route_of(slurm()).port, route_of(with(slurm(), "SLURM_STEP_ID", "1")).port);
  EXPECT_EQ(route_of(with(slurm(), "CCL_KVS_IP_PORT", "4000")).port, 4000);
  // The user's own address goes before it.
  EXPECT_EQ(route_of(with(slurm(), "MASTER_ADDR", "10.0.0.1")).host, "10.0.0.1");
}

TEST(Launcher, TheUserMayPutOneLauncherBeforeAnother) {
  Variables both = torchrun();
  both.insert({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}});
  expect_place(both, {1, 4, 1, 4, "", "torchrun"});
  expect_place(with(both, "CCL_PROCESS_LAUNCHER", "hydra"), {0, 1, 0, 1, "", "MPICH's mpirun"});
  expect_place(with(torchrun(), "CCL_PROCESS_LAUNCHER", "hydra"), {1, 4, 1, 4, "", "torchrun"});
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
