// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "env/env.hpp"
#include "env/fake_environment.hpp"

namespace tutti {
namespace {

std::vector<EnvironmentNotice> check(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> names;
  for (const auto& [name, value] : variables) names.push_back(name);
  return check_names(names, fake_environment(variables));
}

// The text of the only notice.
std::string notice(const std::string& name, LogLevel severity) {
  const auto notices = check({{name, "1"}});
  if (notices.size() != 1) return "";
  EXPECT_EQ(notices[0].severity, severity) << name;
  return notices[0].text;
}

TEST(VariableNames, KnownOnesAndThoseOfOthersAreNotMentioned) {
  EXPECT_TRUE(check({{"CCL_WORKER_COUNT", "1"},
                     {"CCL_BCAST", "ring"},
                     {"FI_PROVIDER", "tcp"},
                     {"PATH", "/bin"},
                     {"NCCL_DEBUG", "info"},
                     {"TUTTIFRUTTI", "1"}})
                  .empty());
}

TEST(VariableNames, AMisspeltOneIsWarnedAboutWithTheNearest) {
  EXPECT_EQ(notice("CCL_WORKER_CONT", LogLevel::kWarn),
            "CCL_WORKER_CONT=1 is ignored: there is no such variable; did you mean "
            "CCL_WORKER_COUNT?");
  const std::map<std::string, std::string> nearest = {
      {"CCL_WROKER_AFFINITY", "CCL_WORKER_AFFINITY"},
      {"CCL_ALREDUCE", "CCL_ALLREDUCE"},
      {"TUTTI_WORKER_COUNT", "CCL_WORKER_COUNT"},
      {"TUTTI_TIMEOUT", "TUTTI_TIMEOUT_MS"},
      {"CCL_LOGLEVEL", "CCL_LOG_LEVEL"},
      {"CCL_BCST", "CCL_BCAST"}};
  for (const auto& [given, known] : nearest) {
    EXPECT_TRUE(notice(given, LogLevel::kWarn).ends_with("did you mean " + known + "?"))
        << notice(given, LogLevel::kWarn);
  }
}

TEST(VariableNames, NothingIsSuggestedForANameFarFromAll) {
  EXPECT_EQ(notice("CCL_QQQQQQQQ", LogLevel::kWarn),
            "CCL_QQQQQQQQ=1 is ignored: there is no such variable");
  EXPECT_EQ(notice("TUTTI_", LogLevel::kWarn), "TUTTI_=1 is ignored: there is no such variable");
}

TEST(VariableNames, OneWithoutEffectIsMentionedWithTheReason) {
  EXPECT_EQ(notice("CCL_FUSION", LogLevel::kInfo),
            "CCL_FUSION=1 has no effect: calls are not merged");
  EXPECT_NE(notice("CCL_ZE_ANYTHING", LogLevel::kInfo), "");
  EXPECT_NE(notice("CCL_ALLREDUCE_SCALEOUT", LogLevel::kInfo), "");
}

TEST(VariableNames, AnAliasThatLosesIsWarnedAbout) {
  const auto notices = check({{"CCL_BCAST", "ring"}, {"CCL_BROADCAST", "binomial"}});
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].severity, LogLevel::kWarn);
  EXPECT_EQ(
      notices[0].text,
      "CCL_BCAST=ring is ignored: CCL_BROADCAST=binomial is set, of which it is another name");
  EXPECT_TRUE(check({{"CCL_BCAST", "ring"}, {"CCL_BROADCAST", "ring"}}).empty());
}

TEST(VariableNames, EveryAcceptedOneIsReachedAndGivesAReason) {
  for (const AcceptedVariable& accepted : accepted_variables()) {
    std::string name(accepted.name);
    if (const size_t star = name.find('*'); star != std::string::npos) name.replace(star, 1, "QQ");
    EXPECT_EQ(notice(name, LogLevel::kInfo),
              name + "=1 has no effect: " + std::string(accepted.reason));
  }
}

TEST(VariableNames, EveryAliasStandsForAVariableOfTheTable) {
  for (const VariableAlias& alias : variable_aliases()) {
    bool found = false;
    for (const VariableReport& variable : report_variables(fake_environment({}))) {
      found = found || variable.name == alias.name;
    }
    EXPECT_TRUE(found) << alias.alias;
  }
}

// The names that oneCCL documents: whatever a user's script sets, no warning follows.
TEST(VariableNames, NoneThatOneCclDocumentsIsUnknown) {
  for (const char* name : {"CCL_ALLGATHER",
                           "CCL_ALLGATHERV",
                           "CCL_ALLREDUCE",
                           "CCL_ALLTOALL",
                           "CCL_ALLTOALLV",
                           "CCL_BARRIER",
                           "CCL_BCAST",
                           "CCL_REDUCE",
                           "CCL_REDUCE_SCATTER",
                           "CCL_RECV",
                           "CCL_SEND",
                           "CCL_ALLREDUCE_SCALEOUT",
                           "CCL_RS_CHUNK_COUNT",
                           "CCL_RS_MIN_CHUNK_SIZE",
                           "CCL_WORKER_COUNT",
                           "CCL_WORKER_AFFINITY",
                           "CCL_WORKER_MEM_AFFINITY",
                           "CCL_ATL_SHM",
                           "CCL_ATL_HMEM",
                           "CCL_ATL_MPI_FP16",
                           "CCL_ATL_MPI_BF16",
                           "CCL_KVS_MODE",
                           "CCL_KVS_CONNECTION_TIMEOUT",
                           "CCL_PROCESS_LAUNCHER",
                           "CCL_LOCAL_RANK",
                           "CCL_LOCAL_SIZE",
                           "CCL_MNIC",
                           "CCL_MNIC_NAME",
                           "CCL_MNIC_COUNT",
                           "CCL_PRIORITY",
                           "CCL_FUSION",
                           "CCL_FUSION_BYTES_THRESHOLD",
                           "CCL_FUSION_COUNT_THRESHOLD",
                           "CCL_FUSION_CYCLE_MS",
                           "CCL_MAX_SHORT_SIZE",
                           "CCL_BF16",
                           "CCL_FP16",
                           "CCL_LOG_LEVEL",
                           "CCL_ITT_LEVEL",
                           "CCL_ROOT",
                           "CCL_ALLGATHERV_MONOLITHIC_PIPELINE_KERNEL",
                           "CCL_REDUCE_SCATTER_MONOLITHIC_PIPELINE_KERNEL",
                           "CCL_ALLTOALLV_MONOLITHIC_KERNEL",
                           "CCL_ENABLE_SYCL_KERNELS",
                           "CCL_SYCL_ALLREDUCE_TMP_BUF",
                           "CCL_SYCL_OUTPUT_EVENT",
                           "CCL_ZE_IPC_EXCHANGE",
                           "CCL_ZE_LIBRARY_PATH",
                           "CCL_PLUGIN",
                           "CCL_SCATTER"}) {
    for (const EnvironmentNotice& notice : check({{name, "1"}})) {
      EXPECT_EQ(notice.severity, LogLevel::kInfo) << notice.text;
    }
  }
}

// Of those that it does not document but reads, where the reason names what to set instead.
TEST(VariableNames, ThoseOfOneCclsMeetingsNameOurs) {
  for (const char* name : {"CCL_KVS_CONNECTION_TIMEOUT", "CCL_KVS_GET_TIMEOUT"}) {
    EXPECT_EQ(notice(name, LogLevel::kInfo),
              std::string(name) + "=1 has no effect: see TUTTI_INIT_TIMEOUT_MS");
  }
  EXPECT_NE(notice("CCL_KVS_IP_EXCHANGE", LogLevel::kInfo).find("CCL_KVS_IP_PORT"),
            std::string::npos);
  EXPECT_NE(notice("CCL_KVS_MPI_ALLGATHER", LogLevel::kInfo).find("CCL_KVS_MODE"),
            std::string::npos);
}

TEST(VariableNames, TheProcessesOwnAreListed) {
  ASSERT_EQ(setenv("TUTTI_TEST_OF_NAMES", "a=b", 1), 0);
  const auto names = process_environment_names();
  EXPECT_NE(std::find(names.begin(), names.end(), "TUTTI_TEST_OF_NAMES"), names.end());
  ASSERT_EQ(unsetenv("TUTTI_TEST_OF_NAMES"), 0);
}

}  // namespace
}  // namespace tutti
