// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <tutti/version.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "algorithms/algorithm.hpp"
#include "env/env.hpp"
#include "kernels/reduce_host.hpp"
#include "tools/command.hpp"
#include "transports/transport.hpp"

namespace {

using Json = nlohmann::json;
using tutti_test::ClosedPipe;
using tutti_test::kIgnoresSigpipe;
using tutti_test::run_tutti;

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Json json_of(const std::string& arguments, const std::string& variables = "") {
  return Json::parse(run_tutti(arguments, variables).output, nullptr, false);
}

Json variable_of(const Json& info, const std::string& name) {
  for (const Json& variable : info.at("variables")) {
    if (variable.at("name") == name) return variable;
  }
  ADD_FAILURE() << name << " is missing";
  return {};
}

TEST(Manual, OfTheVariablesIsWhatTheTablesSay) {
  EXPECT_EQ(read_file(TUTTI_SOURCE_DIR "/docs/variables.md"), run_tutti("info --markdown").output)
      << "run ./dev docs";
}

TEST(Manual, DoesNotDependOnTheEnvironment) {
  EXPECT_EQ(run_tutti("info --markdown").output,
            run_tutti("info --markdown", "CCL_WORKER_COUNT=7 CCL_FUSION=1").output);
}

TEST(Manual, PageHasEveryVariable) {
  const std::string page = run_tutti("info --man").output;
  for (const tutti::VariableReport& variable :
       tutti::report_variables([](const std::string&) { return std::nullopt; })) {
    EXPECT_NE(page.find(".B " + variable.name + "\n"), std::string::npos) << variable.name;
  }
}

TEST(Info, DescribesLibraryAndMachineForPeople) {
  const auto info = run_tutti("info");
  EXPECT_EQ(info.exit_status, 0);
  EXPECT_EQ(info.output.find("tutti " + std::to_string(TUTTI_VERSION_MAJOR) + "."), 0U);
  for (const char* part : {"Machine", "package 0", "Variables", "CCL_WORKER_COUNT"}) {
    EXPECT_NE(info.output.find(part), std::string::npos) << part;
  }
}

TEST(Info, IsCompleteAsJson) {
  const Json info = json_of("info --json");
  ASSERT_TRUE(info.is_object());
  EXPECT_GE(info.at("topology").at("hardware_threads"), 1);
  EXPECT_FALSE(info.at("cores").at("usable").empty());
  EXPECT_EQ(info.at("variables").size(),
            tutti::report_variables([](const std::string&) { return std::nullopt; }).size());
}

TEST(Info, IsJsonWhateverBytesAVariableHas) {
  for (const std::string options : {"info --json", "info --env --json"}) {
    const auto result = run_tutti(options, R"(CCL_LOG_LEVEL=$(printf '\377'))");
    EXPECT_EQ(result.exit_status, 1) << options;
    const Json info = Json::parse(result.output, nullptr, false);
    ASSERT_TRUE(info.is_object()) << result.output;
    const auto& variables = info.at("variables");
    EXPECT_TRUE(std::ranges::any_of(variables, [](const Json& one) {
      return one.at("name") == "CCL_LOG_LEVEL" && one.at("value") == "\xEF\xBF\xBD";
    })) << result.output;
  }
}

TEST(Info, ListsWhatTheLibraryOffers) {
  const Json info = json_of("info --json");
  EXPECT_EQ(info.at("transports").size(), tutti::transport_kinds().size());
  EXPECT_EQ(info.at("transports").at(0).at("name"), tutti::transport_kinds()[0]->name);
  EXPECT_EQ(info.at("algorithms").size(), tutti::algorithms().size());
  EXPECT_EQ(info.at("kernels").at("isa"), tutti::kernel_isa());
  const std::string text = run_tutti("info").output;
  for (const tutti::Algorithm* algorithm : tutti::algorithms()) {
    EXPECT_NE(text.find(algorithm->summary), std::string::npos) << algorithm->name;
  }
}

TEST(Info, TellsWhereAValueComesFrom) {
  const Json info = json_of("info --env --json", "CCL_WORKER_COUNT=3 CCL_BCAST=ring");
  EXPECT_EQ(variable_of(info, "CCL_WORKER_COUNT").at("value"), "3");
  EXPECT_EQ(variable_of(info, "CCL_WORKER_COUNT").at("default"), "1");
  EXPECT_EQ(variable_of(info, "CCL_WORKER_COUNT").at("origin"), "CCL_WORKER_COUNT");
  EXPECT_EQ(variable_of(info, "CCL_BROADCAST").at("origin"), "CCL_BCAST");
  EXPECT_EQ(variable_of(info, "TUTTI_STRICT").at("origin"), "default");
  const std::string text = run_tutti("info --env", "CCL_WORKER_COUNT=3 CCL_BCAST=ring").output;
  EXPECT_NE(text.find("CCL_WORKER_COUNT=3  (environment)"), std::string::npos);
  EXPECT_NE(text.find("CCL_BROADCAST=ring  (environment, as CCL_BCAST)"), std::string::npos);
}

TEST(Info, EndsWithAnErrorWhenAValueIsBad) {
  const auto info = run_tutti("info --env", "CCL_WORKER_COUNT=abc");
  EXPECT_EQ(info.exit_status, 1);
  EXPECT_NE(info.output.find("CCL_WORKER_COUNT=abc: expected a whole number from 1 to 64"),
            std::string::npos);
}

TEST(Info, EndsWithAnErrorWhenAnAlgorithmDoesNotExist) {
  const auto info = run_tutti("info --env", "CCL_ALLREDUCE=qqq");
  EXPECT_EQ(info.exit_status, 1);
  EXPECT_NE(info.output.find("error: CCL_ALLREDUCE"), std::string::npos) << info.output;
}

TEST(Info, SaysInOneLineThatItsOutputCannotBeWritten) {
  const auto info = run_tutti("info 2>&1 >/dev/full");
  EXPECT_EQ(info.exit_status, 1);
  EXPECT_NE(info.output.find("No space left on device"), std::string::npos) << info.output;
  EXPECT_EQ(std::ranges::count(info.output, '\n'), 1) << info.output;
}

TEST(Info, EndsQuietlyWhenNobodyReadsItsOutput) {
  const ClosedPipe pipe;
  const auto info = run_tutti("info 2>&1 >&" + pipe.number(), kIgnoresSigpipe);
  EXPECT_EQ(info.exit_status, 128 + SIGPIPE);
  EXPECT_EQ(info.output, "");
}

TEST(Info, MentionsNamesThatAreUnknownOrHaveNoEffect) {
  const std::string text = run_tutti("info --env", "CCL_WORKER_CONT=2 CCL_FUSION=1").output;
  EXPECT_NE(text.find("did you mean CCL_WORKER_COUNT?"), std::string::npos);
  EXPECT_NE(text.find("CCL_FUSION=1 has no effect"), std::string::npos);
}

}  // namespace
