// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "algorithms/algorithm.hpp"
#include "tools/command.hpp"

namespace {

using Json = nlohmann::json;
using tutti_test::run_tutti;

TEST(VerifyCommand, ProvesEveryRegisteredAlgorithm) {
  const auto run = run_tutti("verify --ranks 1,3-4 --json");
  EXPECT_EQ(run.exit_status, 0);
  const Json result = Json::parse(run.output, nullptr, false);
  EXPECT_EQ(result.at("ranks"), Json({1, 3, 4}));
  ASSERT_EQ(result.at("algorithms").size(), tutti::algorithms().size());
  for (const Json& algorithm : result.at("algorithms")) {
    EXPECT_TRUE(algorithm.at("failures").empty()) << algorithm;
    EXPECT_GT(algorithm.at("proofs"), 0) << algorithm;
  }
}

TEST(VerifyCommand, ProvesWhatIsAskedForAndSaysSo) {
  const auto run = run_tutti("verify barrier --ranks 2-3");
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_NE(run.output.find("barrier         inline"), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("proved"), std::string::npos) << run.output;
  EXPECT_EQ(run.output.find("allreduce"), std::string::npos) << run.output;
}

TEST(VerifyCommand, NamesWhatItCannotUse) {
  const auto ranks = run_tutti("verify --ranks 1-x 2>&1");
  EXPECT_NE(ranks.exit_status, 0);
  EXPECT_NE(ranks.output.find("'1-x'"), std::string::npos) << ranks.output;
  const auto name = run_tutti("verify --algorithm spiral 2>&1");
  EXPECT_NE(name.exit_status, 0);
  EXPECT_NE(name.output.find("'spiral'"), std::string::npos) << name.output;
}

}  // namespace
