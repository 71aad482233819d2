// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "env/env.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "env/fake_environment.hpp"

namespace tutti {
namespace {

std::string error_of(const std::string& name, const std::string& value) {
  const auto environment = read_environment(fake_environment({{name, value}}));
  return environment.ok() ? "" : std::string(environment.status().message());
}

VariableReport report_of(const std::string& name, const Getter& getter) {
  for (VariableReport& report : report_variables(getter)) {
    if (report.name == name) return std::move(report);
  }
  ADD_FAILURE() << name << " is not in the table";
  return {};
}

TEST(Environment, GivesTheDefaultsOfTheTableWhenNothingIsSet) {
  const auto environment = read_environment(fake_environment({}));
  ASSERT_TRUE(environment.ok()) << environment.status().message();
  EXPECT_EQ(environment->log_level, LogLevel::kWarn);
  EXPECT_EQ(environment->worker_count, 1);
  EXPECT_TRUE(environment->worker_affinity.automatic);
  EXPECT_EQ(environment->local_rank, -1);
  EXPECT_FALSE(environment->strict);
  EXPECT_EQ(environment->allreduce, "");
}

TEST(Environment, ReadsASecretAndShowsItToNobody) {
  const auto getter = fake_environment({{"TUTTI_MEETING_SECRET", "open sesame"}});
  const auto environment = read_environment(getter);
  ASSERT_TRUE(environment.ok()) << environment.status().message();
  EXPECT_EQ(environment->meeting_secret.text, "open sesame");
  EXPECT_EQ(report_of("TUTTI_MEETING_SECRET", getter).value, "(not shown)");
  EXPECT_EQ(report_of("TUTTI_MEETING_SECRET", fake_environment({})).value, "");
}

TEST(Environment, ReadsEveryType) {
  const auto environment = read_environment(fake_environment({{"CCL_WORKER_COUNT", "4"},
                                                              {"CCL_WORKER_AFFINITY", "0,1,4-6,3"},
                                                              {"CCL_LOG_LEVEL", "Debug"},
                                                              {"TUTTI_STRICT", "Yes"},
                                                              {"TUTTI_SHM_WINDOW_BYTES", "2M"},
                                                              {"CCL_ALLREDUCE", " ring "}}));
  ASSERT_TRUE(environment.ok()) << environment.status().message();
  EXPECT_EQ(environment->worker_count, 4);
  EXPECT_FALSE(environment->worker_affinity.automatic);
  EXPECT_EQ(environment->worker_affinity.cores, (std::vector<int>{0, 1, 4, 5, 6, 3}));
  EXPECT_EQ(environment->log_level, LogLevel::kDebug);
  EXPECT_TRUE(environment->strict);
  EXPECT_EQ(environment->window_bytes, 2U << 20);
  EXPECT_EQ(environment->allreduce, "ring");
}

TEST(Environment, AnErrorNamesTheVariableItsValueAndWhatWasExpected) {
  EXPECT_EQ(error_of("CCL_WORKER_COUNT", "abc"),
            "CCL_WORKER_COUNT=abc: expected a whole number from 1 to 64");
  EXPECT_EQ(error_of("TUTTI_TIMEOUT_MS", "1s"),
            "TUTTI_TIMEOUT_MS=1s: expected -1, or a whole number from 1 to 2147483647");
  EXPECT_EQ(error_of("CCL_LOG_LEVEL", "loud"),
            "CCL_LOG_LEVEL=loud: expected one of error, warn, info, debug, trace");
  EXPECT_EQ(error_of("CCL_PROCESS_LAUNCHER", "slurm"),
            "CCL_PROCESS_LAUNCHER=slurm: expected one of auto, hydra, torchrun, pmix, none");
  EXPECT_EQ(error_of("CCL_WORKER_AFFINITY", "3-1"),
            "CCL_WORKER_AFFINITY=3-1: expected auto, or cores such as 0,1,4-6");
  EXPECT_EQ(
      error_of("TUTTI_STREAM_BYTES", "64q"),
      "TUTTI_STREAM_BYTES=64q: expected auto, or a size in bytes from 0 to max, such as 65536, "
      "64k or 1m");
  EXPECT_EQ(error_of("TUTTI_SHM_SLOT_BYTES", "64q"),
            "TUTTI_SHM_SLOT_BYTES=64q: expected a size in bytes from 8k to 1m, such as 65536, 64k "
            "or 1m");
  EXPECT_EQ(error_of("TUTTI_STRICT", "maybe"),
            "TUTTI_STRICT=maybe: expected one of 0, 1, off, on, no, yes, false, true");
}

// As tutti_comm_config and tutti_comm_set_timeout have it: every call would end at once.
TEST(Environment, ATimeoutIsAPositiveNumberOrNone) {
  for (const char* bad : {"0", "-2", "2147483648"}) {
    EXPECT_EQ(error_of("TUTTI_TIMEOUT_MS", bad),
              std::string("TUTTI_TIMEOUT_MS=") + bad +
                  ": expected -1, or a whole number from 1 to 2147483647");
  }
  for (const int64_t good : {-1, 1, 2147483647}) {
    const auto environment =
        read_environment(fake_environment({{"TUTTI_TIMEOUT_MS", std::to_string(good)}}));
    ASSERT_TRUE(environment.ok()) << environment.status().message();
    EXPECT_EQ(environment->timeout_ms, TimeLimit{good});
  }
}

TEST(Environment, ReadsEveryWordOfAnEnumerationInEitherCase) {
  const std::map<std::string, LogLevel> levels = {{"error", LogLevel::kError},
                                                  {"WARN", LogLevel::kWarn},
                                                  {"Info", LogLevel::kInfo},
                                                  {"debug", LogLevel::kDebug},
                                                  {"TRACE", LogLevel::kTrace}};
  for (const auto& [word, level] : levels) {
    EXPECT_EQ(read_environment(fake_environment({{"CCL_LOG_LEVEL", word}}))->log_level, level);
    EXPECT_EQ(report_of("CCL_LOG_LEVEL", fake_environment({{"CCL_LOG_LEVEL", word}})).value,
              log_level_name(level));
  }
  EXPECT_EQ(
      read_environment(fake_environment({{"CCL_PROCESS_LAUNCHER", "None"}}))->process_launcher,
      Launcher::kNone);
}

TEST(Environment, RefusesNumbersThatAreNotWhole) {
  for (const char* value : {"0", "65", "-1", "1.5", "1 2", "0x4", "4k", "99999999999999999999"}) {
    EXPECT_NE(error_of("CCL_WORKER_COUNT", value), "") << value;
  }
}

TEST(Environment, RefusesSizesThatDoNotFitIn64Bits) {
  EXPECT_EQ(error_of("TUTTI_STREAM_BYTES", "max"), "");
  EXPECT_EQ(error_of("TUTTI_STREAM_BYTES", "Auto"), "");
  EXPECT_EQ(error_of("TUTTI_STREAM_BYTES", "17179869183g"), "");
  EXPECT_NE(error_of("TUTTI_STREAM_BYTES", "17179869184g"), "");
  EXPECT_NE(error_of("TUTTI_STREAM_BYTES", "k"), "");
  EXPECT_NE(error_of("TUTTI_STREAM_BYTES", "-1"), "");
}

TEST(Environment, RefusesMalformedCoreLists) {
  for (const char* value : {",", "1,", "a", "1-", "-1", "1--2", "auto,1", "0-99999999", "1;2"}) {
    EXPECT_NE(error_of("CCL_WORKER_AFFINITY", value), "") << value;
  }
}

TEST(Environment, ReadsDomains) {
  EXPECT_EQ(report_of("TUTTI_DOMAIN", fake_environment({})).value, "auto");
  EXPECT_EQ(report_of("TUTTI_DOMAIN", fake_environment({{"TUTTI_DOMAIN", "None"}})).value, "none");
  EXPECT_EQ(report_of("TUTTI_DOMAIN", fake_environment({{"TUTTI_DOMAIN", "12"}})).value, "12");
  EXPECT_EQ(error_of("TUTTI_DOMAIN", "-1"),
            "TUTTI_DOMAIN=-1: expected auto, none, or a number from 0 on");
}

TEST(Environment, ReportsAllBadVariablesAtOnce) {
  const auto environment =
      read_environment(fake_environment({{"CCL_WORKER_COUNT", "abc"}, {"TUTTI_STRICT", "2"}}));
  ASSERT_FALSE(environment.ok());
  EXPECT_EQ(environment.status().code(), Code::kInvalidArgument);
  EXPECT_NE(environment.status().message().find("CCL_WORKER_COUNT=abc"), std::string::npos);
  EXPECT_NE(environment.status().message().find("TUTTI_STRICT=2"), std::string::npos);
}

std::string job_setting(const Environment& environment, std::string_view name) {
  for (const JobSetting& setting : job_settings(environment)) {
    if (setting.name == name) return setting.value;
  }
  return "(of each process)";
}

TEST(Environment, TellsWhatAllRanksOfAJobMustShare) {
  const auto environment = read_environment(
      fake_environment({{"CCL_ALLTOALLV", "flat"}, {"TUTTI_SHM_PULL", "0"}, {"TUTTI_JOB", "x"}}));
  ASSERT_TRUE(environment.ok());
  EXPECT_EQ(job_setting(*environment, "CCL_ALLTOALLV"), "flat");
  EXPECT_EQ(job_setting(*environment, "TUTTI_SHM_PULL"), "0");
  EXPECT_EQ(job_setting(*environment, "CCL_WORKER_COUNT"), "1");
  EXPECT_EQ(job_setting(*environment, "TUTTI_JOB"), "(of each process)");
}

TEST(Environment, AnEmptyValueCountsAsNotSet) {
  EXPECT_EQ(error_of("CCL_WORKER_COUNT", ""), "");
  EXPECT_EQ(report_of("CCL_WORKER_COUNT", fake_environment({{"CCL_WORKER_COUNT", " "}})).origin,
            "default");
}

TEST(Environment, AnAliasSetsItsVariableUnlessThatIsSetItself) {
  const VariableReport alias =
      report_of("CCL_BROADCAST", fake_environment({{"CCL_BCAST", "ring"}}));
  EXPECT_EQ(alias.value, "ring");
  EXPECT_EQ(alias.origin, "CCL_BCAST");
  const VariableReport both = report_of(
      "CCL_BROADCAST", fake_environment({{"CCL_BCAST", "ring"}, {"CCL_BROADCAST", "binomial"}}));
  EXPECT_EQ(both.value, "binomial");
  EXPECT_EQ(both.origin, "CCL_BROADCAST");
}

TEST(Environment, EveryDefaultIsALegalValue) {
  for (const VariableReport& variable : report_variables(fake_environment({}))) {
    EXPECT_EQ(error_of(variable.name, variable.default_value), "");
    EXPECT_EQ(variable.origin, "default");
    EXPECT_FALSE(variable.help.empty()) << variable.name;
  }
}

TEST(Environment, NoVariableIsInTheTableTwice) {
  std::vector<std::string> names;
  for (const VariableReport& variable : report_variables(fake_environment({}))) {
    names.push_back(variable.name);
  }
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

TEST(Environment, ABadValueIsReportedAsGiven) {
  const VariableReport report =
      report_of("CCL_WORKER_COUNT", fake_environment({{"CCL_WORKER_COUNT", "abc"}}));
  EXPECT_EQ(report.value, "abc");
  EXPECT_EQ(report.default_value, "1");
  EXPECT_EQ(report.expected, "a whole number from 1 to 64");
  EXPECT_FALSE(report.error.empty());
}

TEST(Environment, ReadsTheProcessesOwnVariables) {
  ASSERT_EQ(setenv("TUTTI_TEST_OF_GETTER", "value", 1), 0);
  EXPECT_EQ(process_environment()("TUTTI_TEST_OF_GETTER"), "value");
  ASSERT_EQ(unsetenv("TUTTI_TEST_OF_GETTER"), 0);
  EXPECT_EQ(process_environment()("TUTTI_TEST_OF_GETTER"), std::nullopt);
}

}  // namespace
}  // namespace tutti
