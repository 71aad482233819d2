// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/command.hpp"

namespace tutti_test {
namespace {

nlohmann::json simulate_json(const std::string& arguments) {
  const CommandResult result = run_tutti("simulate " + arguments + " --json");
  EXPECT_EQ(result.exit_status, 0) << arguments;
  return nlohmann::json::parse(result.output, nullptr, false);
}

TEST(SimulateCommand, SaysWhatItFoundAsTextAndAsJson) {
  const std::string arguments =
      "allreduce --ranks 64 --hosts 8 --bytes 4kb --topology fat-tree --straggler 5=x20";
  const CommandResult text = run_tutti("simulate " + arguments);
  EXPECT_EQ(text.exit_status, 0);
  for (const char* part : {"per call", "host up", "hot links", "who waits", "at most on a rank"}) {
    EXPECT_NE(text.output.find(part), std::string::npos) << part << " in\n" << text.output;
  }
  const auto json = simulate_json(arguments);
  EXPECT_EQ(json.at("ranks"), 64);
  EXPECT_EQ(json.at("hosts"), 8);
  EXPECT_GT(json.at("seconds"), 0);
  EXPECT_EQ(json.at("last_rank"), 5);
}

TEST(SimulateCommand, ComparesAlgorithmsOverRanksAndDrawsThem) {
  const Picture picture;
  const auto json =
      simulate_json("allgather --ranks 8 --hosts 8 --bytes 64 -a ring,bruck --sweep ranks --plot " +
                    picture.path());
  EXPECT_EQ(json.at("cells").size(), 6u);  // 2, 4 and 8 ranks
  EXPECT_NE(picture.text().find("<svg"), std::string::npos);
  EXPECT_NE(picture.text().find("bruck"), std::string::npos);
}

TEST(SimulateCommand, DrawsHowBusyLinksAre) {
  const Picture picture;
  simulate_json("alltoall --ranks 8 --bytes 64 --topology fat-tree:4 --heat " + picture.path());
  EXPECT_NE(picture.text().find("leaf up"), std::string::npos);
}

TEST(SimulateCommand, ErrorsNameWhatWasGivenAndExpected) {
  expect_refusal("simulate spiral", "there is no collective 'spiral'; expected one of allreduce");
  expect_refusal("simulate allreduce --straggler 7", "--straggler 7: expected RANK=xFACTOR");
  expect_refusal("simulate allreduce --hosts 4", "--hosts 4: expected at most as many as ranks, 2");
  expect_refusal("simulate allreduce -a spiral", "there is no allreduce algorithm 'spiral'");
  expect_refusal("simulate allreduce --bytes 3", "--bytes 3: expected a whole number of elements");
  expect_refusal("simulate broadcast --root 2", "--root 2: ranks go from 0 to 1");
  expect_refusal("simulate allreduce --topology torus", "'torus' is neither single-switch");
  expect_refusal("simulate allreduce --fail a-b", "there is no link 'a-b'");
}

}  // namespace
}  // namespace tutti_test
