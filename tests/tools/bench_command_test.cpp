// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti bench as a user runs it: real ranks, real results.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/topology.hpp"
#include "tools/command.hpp"

namespace {

using Json = nlohmann::json;
using tutti_test::expect_refusal;
using tutti_test::run_tutti;

class BenchCommand : public testing::Test {
 protected:
  BenchCommand() {
    std::string name = testing::TempDir() + "benchXXXXXX";
    if (mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no temporary folder";
    folder_ = name;
  }
  ~BenchCommand() override { std::filesystem::remove_all(folder_); }

  // A few calls of each kind that `arguments` ask for, by `ranks` ranks, as JSON.
  [[nodiscard]] Json bench(const std::string& arguments, int ranks = 2) const {
    const std::string file = folder_ + "/result.json";
    const auto result = run_tutti("bench " + arguments + " -n " + std::to_string(ranks) +
                                  " -i 3 -w 1 -o " + file + " 2>&1");
    EXPECT_EQ(result.exit_status, 0) << result.output;
    std::ifstream in(file);
    return Json::parse(in, nullptr, false);
  }

  std::string folder_;
};

TEST_F(BenchCommand, EveryTypeAndOperationGivesTheRightResult) {
  const Json json = bench("allreduce,reduce_scatter -d all -r all -y 4100");
  // 8 integer types with 8 operations, 6 floating-point types without the 3 bitwise ones, 2 of
  // complex numbers without min and max besides.
  EXPECT_EQ(json["results"].size(), 2 * (8 * 8 + 6 * 5 + 2 * 3));
}

TEST_F(BenchCommand, EveryFormGivesTheRightResultApartAndInPlace) {
  for (const char* form : {"blocking", "nonblocking", "persistent"}) {
    for (const char* place : {"", " -q"}) {
      const Json json =
          bench(std::string(
                    "allreduce,reduce,broadcast,allgather,reduce_scatter,gather,scatter,allgatherv,"
                    "reduce_scatterv,gatherv,scatterv --buffers 2 -y 4,100K --root 2 --form ") +
                    form + place,
                3);
      EXPECT_EQ(json["results"].size(), 22U) << form << place;
    }
  }
}

TEST_F(BenchCommand, BuffersInHugePagesGiveTheSameResults) {
  const Json json = bench("alltoall,allreduce -y 4,4M --huge-pages");
  EXPECT_EQ(json["huge_pages"], true);
  EXPECT_EQ(json["results"].size(), 4U);  // all were checked
  EXPECT_EQ(bench("barrier")["huge_pages"], false);
}

TEST_F(BenchCommand, FiguresAreOrderedAndComeFromEveryRank) {
  const Json json = bench("allreduce -f 4 -t 16 --skew 20", 3);
  ASSERT_EQ(json["results"].size(), 3U);
  for (const Json& result : json["results"]) {
    EXPECT_EQ(result["us_per_rank"].size(), 3U);
    EXPECT_EQ(result["repetitions"], 3);
    const Json& us = result["us"];
    EXPECT_LE(us["min"], us["median"]);
    EXPECT_LE(us["median"], us["max"]);
    EXPECT_LE(us["p99"], us["max"]);
  }
}

TEST_F(BenchCommand, AllMeasuresOrSkipsEveryCollectiveWithAReason) {
  const Json json = bench("all -y 64");
  EXPECT_EQ(json["results"].size() + json["skipped"].size(), 15U);
  for (const Json& skipped : json["skipped"]) EXPECT_NE(skipped["reason"], "");
}

TEST_F(BenchCommand, CommaSeparatedFileHasALinePerSize) {
  const std::string file = folder_ + "/result.csv";
  ASSERT_EQ(run_tutti("bench barrier,broadcast -y 4,64 -i 3 -w 1 --csv " + file).exit_status, 0);
  std::ifstream in(file);
  std::string line;
  int lines = 0;
  while (std::getline(in, line)) {
    ++lines;
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 12) << line;
  }
  EXPECT_EQ(lines, 4);
}

TEST_F(BenchCommand, SaysThatASizeIsNoWholeNumberOfElements) {
  const auto result = run_tutti("bench allreduce -n 2 -i 3 -w 1 -y 3,8,14");
  EXPECT_EQ(result.exit_status, 0);
  for (const char* note :
       {"# 3 bytes are no whole number of elements of float32: measured are 4 bytes",
        "# 14 bytes are no whole number of elements of float32: measured are 12"}) {
    EXPECT_NE(result.output.find(note), std::string::npos) << result.output;
  }
  EXPECT_EQ(result.output.find("# 8 bytes"), std::string::npos) << result.output;
}

TEST_F(BenchCommand, BadArgumentsAreNamedWithWhatWasExpected) {
  expect_refusal("bench allreduec", "'allreduec', expected one of: all, allreduce, broadcast");
  expect_refusal("bench allreduce -d float23", "--types has 'float23', expected one of: all, int8");
  expect_refusal("bench allreduce -r avrg", "--ops has 'avrg', expected one of: all, sum");
  expect_refusal("bench allreduce -f 1M -t 1K", "--min is 1048576, expected at most --max, 1024");
  expect_refusal("bench allreduce -r band -d float32",
                 "no type given supports any operation given");
  expect_refusal("bench broadcast --root 2 -n 2 -y 4", "--root is 2, expected 0 to 1");
  expect_refusal("bench allreduce -y 4 -n 2 --json /nonexistent/file",
                 "cannot write /nonexistent/file");
  expect_refusal("bench allreduce --seconds 0", "--seconds: expected a number above 0, got '0'");
}

TEST(Workers, OfWhichThereAreMoreThanCoresAreWarnedOfOnce) {
  const size_t count = std::max<size_t>(tutti::online_cores().size(), 2);
  const std::string told = run_tutti("bench barrier -n 2 -i 2 -w 1 2>&1 >/dev/null",
                                     "CCL_WORKER_COUNT=" + std::to_string(count))
                               .output;
  const size_t first = told.find("CCL_WORKER_COUNT=");
  ASSERT_NE(first, std::string::npos) << told;
  EXPECT_NE(told.find(std::to_string(2 * count) + " workers"), std::string::npos) << told;
  EXPECT_EQ(told.find("CCL_WORKER_COUNT=", first + 1), std::string::npos) << told;
}

}  // namespace
