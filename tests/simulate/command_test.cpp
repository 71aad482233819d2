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
  simulate_json("alltoall --ranks 8 --bytes 64 --topology fat-tree:4 --plot-links " +
                picture.path());
  EXPECT_NE(picture.text().find("leaf up"), std::string::npos);
}

TEST(SimulateCommand, ExportsAScheduleInGoal) {
  const Picture file;
  simulate_json("allreduce --ranks 2 --hosts 2 --bytes 1kb -a recursive_doubling --export " +
                file.path());
  const std::string text = file.text();
  EXPECT_EQ(text.find("num_ranks 2\n\nrank 0 {\n"), 0u) << text;
  for (const char* part : {"l1: send 1024b to 1 tag 1\n", "l2: recv 1024b from 1 tag 1\n",
                           "l2 irequires l1\n", "rank 1 {\n", "l1: send 1024b to 0 tag 1\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
  expect_refusal("simulate allreduce --calls 2 --export " + file.path(), "expected --calls 1");
}

TEST(SimulateCommand, ErrorsNameWhatWasGivenAndExpected) {
  expect_refusal("simulate spiral", "there is no collective 'spiral'; expected one of allreduce");
  expect_refusal("simulate allreduce --straggler 7", "--straggler 7: expected RANK=xFACTOR");
  expect_refusal("simulate allreduce --hosts 4", "--hosts 4: expected at most as many as ranks, 2");
  expect_refusal("simulate allreduce -a spiral", "there is no allreduce algorithm 'spiral'");
  expect_refusal("simulate allreduce --bytes 3", "--bytes 3: expected a whole number of elements");
  expect_refusal("simulate broadcast --root 2", "--root 2: ranks go from 0 to 1");
  expect_refusal("simulate allreduce --topology star", "'star' is neither single-switch");
  expect_refusal("simulate allreduce --fail a-b", "there is no link 'a-b'");
}

TEST(SimulateCommand, NumbersAreTakenAsTheyWereWritten) {
  for (const char* wrong : {"-5", "4.5kb", "1e6", "99999999999999999999", "kb", "8xb"}) {
    expect_refusal(
        std::string("simulate allreduce --bytes ") + wrong,
        std::string("--bytes: expected a size such as 4096, 64kb or 1mb, got '") + wrong);
  }
  expect_refusal("simulate allreduce --bytes 2tb", "--bytes 2199023255552: expected at most 1tb");
  expect_refusal("simulate allreduce --burst -1", "--burst: expected a size such as");
  expect_refusal("simulate allreduce --seed -1", "--seed: expected 0 or more, got '-1'");
}

TEST(SimulateCommand, OptionsThatWouldMeanNothingAreRefused) {
  expect_refusal("simulate allreduce -n 4 --straggler 1=x2,1=x3", "rank 1 is one already");
  expect_refusal("simulate allreduce --turn 5", "--turn 5: expected --shared-cores with it");
  expect_refusal("simulate allreduce --times 8=1,16=2 --latency 4",
                 "--latency 4: expected no --times");
  expect_refusal("simulate allreduce --times 8=1,16=2 --shared-cores 2",
                 "--shared-cores 2: expected no --times");
  expect_refusal("simulate allreduce --times 8=1", "--times: 1 size: expected two or more");
  expect_refusal("simulate allreduce --figure x_s=1", "expected NAME=SECONDS with one of line_s");
  expect_refusal("simulate allreduce --figure line_s=-1",
                 "--figure line_s=-1: expected line_s=SECONDS, 0 or more");
  expect_refusal("simulate allreduce -a all,ring", "there is no allreduce algorithm 'all'");
  expect_refusal("simulate allreduce -a ring,spiral", "there is no allreduce algorithm 'spiral'");
}

TEST(SimulateCommand, WhatASweepAsksForMustBeThereFromTheStart) {
  expect_refusal("simulate broadcast -n 8 --root 5 --sweep ranks",
                 "--root 5: expected one of the ranks that the sweep begins with, 0 to 1");
  expect_refusal("simulate allreduce -n 8 --straggler 5=x2 --sweep ranks",
                 "--straggler 5=x2: expected RANK=xFACTOR with a rank from 0 to 1");
  expect_refusal("simulate allreduce -n 8 --fail host5-switch --sweep ranks",
                 "there is no link 'host5-switch'");
}

TEST(SimulateCommand, ASweepEndsWithTheRanksAndHostsThatWereAskedFor) {
  const auto json = simulate_json("allreduce --ranks 6 --hosts 4 --sweep ranks");
  EXPECT_EQ(json.at("cells").back().at("ranks"), 6);
  EXPECT_EQ(json.at("cells").back().at("hosts"), 4);
}

TEST(SimulateCommand, TakesFiguresOfAMachineThatIsNotThisOne) {
  const auto once = simulate_json("allreduce -n 4 --hosts 1 --bytes 64");
  const auto slower = simulate_json("allreduce -n 4 --hosts 1 --bytes 64 --figure line_s=1e-5");
  EXPECT_GT(slower.at("seconds"), once.at("seconds"));
  const auto timed = simulate_json(
      "allreduce -n 4 -a recursive_doubling --bytes 1kb "
      "--times 8=2,1kb=50,1mb=100");
  EXPECT_GT(timed.at("seconds"), 1e-4);
}

}  // namespace
}  // namespace tutti_test
