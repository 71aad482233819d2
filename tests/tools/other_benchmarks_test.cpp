// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti bench in the guise of nccl-tests and of oneCCL's benchmark, read as scripts read those.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tools/bench/buffers.hpp"
#include "tools/bench/nccl_table.hpp"
#include "tools/bench/oneccl_table.hpp"
#include "tools/command.hpp"
#include "tools/names.hpp"

namespace {

using namespace tutti::bench;
using tutti_test::expect_refusal;
using tutti_test::run_tutti;
using Words = std::vector<std::string>;

Words words_of(const std::string& line) {
  std::istringstream in(line);
  Words words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// The lines that begin with a number.
std::vector<Words> rows_of(const std::string& output) {
  std::istringstream in(output);
  std::vector<Words> rows;
  for (std::string line; std::getline(in, line);) {
    Words words = words_of(line);
    if (!words.empty() && isdigit(static_cast<unsigned char>(words[0][0])) != 0) {
      rows.push_back(std::move(words));
    }
  }
  return rows;
}

Measurement measured(std::vector<double> averages, uint64_t wrong = 0) {
  std::vector<Statistics> ranks;
  for (const double avg : averages) ranks.push_back({.avg = avg, .wait = avg / 2});
  const Statistics all = over_ranks(ranks);
  const Case of{find_collective("allreduce"), TUTTI_FLOAT32, tutti::ReduceOp::kSum, 1000};
  return {of, 20, ranks, all, 4000 / all.avg / 1e3, 4000 / all.avg / 1e3, wrong};
}

TEST(NcclTable, TimeIsThatOfTheRanksThatWereAskedFor) {
  const Measurement m = measured({10, 20, 60, 30});
  EXPECT_DOUBLE_EQ(nccl::figures(m, nccl::Average::kRank0, 1, true).us, 10);
  EXPECT_DOUBLE_EQ(nccl::figures(m, nccl::Average::kMean, 1, true).us, 30);
  EXPECT_DOUBLE_EQ(nccl::figures(m, nccl::Average::kMin, 1, true).us, 10);
  EXPECT_DOUBLE_EQ(nccl::figures(m, nccl::Average::kMax, 1, true).us, 60);
  const nccl::Figures of_two_calls = nccl::figures(m, nccl::Average::kMean, 2, true);
  EXPECT_DOUBLE_EQ(of_two_calls.us, 15);
  EXPECT_DOUBLE_EQ(of_two_calls.algorithm_bandwidth, 4000 / 15.0 / 1e3);
  EXPECT_DOUBLE_EQ(of_two_calls.bus_bandwidth, 4000 / 15.0 / 1e3 * 1.5);
}

TEST(NcclTable, WrongElementsStandInTheRowAndInTheFoot) {
  const Measurement m = measured({10, 20}, 7);
  const auto shown = nccl::figures(m, nccl::Average::kMean, 1, true);
  EXPECT_EQ(words_of(nccl::table_row(m.measured, 2, 0, shown, std::nullopt)),
            (Words{"4000", "1000", "float", "sum", "-1", "15.00", "0.27", "0.27", "7", "nan", "nan",
                   "nan", "N/A"}));
  EXPECT_NE(nccl::table_foot(7, 1.5).find("# Out of bounds values : 7 FAILED"), std::string::npos);
  EXPECT_NE(nccl::table_foot(0, 1.5).find("# Avg bus bandwidth    : 1.5"), std::string::npos);
}

TEST(NcclTable, SizesAreThoseOfTheLargerBuffer) {
  const auto count = [](const char* name, uint64_t bytes) {
    return nccl::count_for(*nccl::find_collective(name), TUTTI_FLOAT32, bytes, 3);
  };
  EXPECT_EQ(count("all_reduce", 1000), 250U);
  EXPECT_EQ(count("all_gather", 1000), 80U);  // whole multiples of 16 bytes
  EXPECT_EQ(count("gather", 1000), 83U);
}

TEST(BenchBuffers, EveryWrongElementIsCounted) {
  const Case of{find_collective("allgather"), TUTTI_INT32, tutti::ReduceOp::kSum, 5000};
  Buffers buffers(of, {nullptr, 1, 3, 0, false, 1, false, false, nullptr});
  const Call& call = buffers.calls()[0];
  for (int rank = 0; rank < 3; ++rank) {
    Pattern::copied(TUTTI_INT32, rank)
        .fill(static_cast<int32_t*>(call.recv) + 5000 * rank, 0, 5000);
  }
  EXPECT_FALSE(buffers.check(0));
  for (const size_t i : {17U, 18U, 4999U, 5000U, 14999U}) static_cast<int32_t*>(call.recv)[i] ^= 1;
  const auto wrong = buffers.check(0);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->wrong, 5U);
  EXPECT_EQ(wrong->index, 17U);
}

TEST(OneCclTable, LineIsTheSumOfItsCollectives) {
  const oneccl::Row row = oneccl::row_of({measured({10, 30}), measured({5, 1})});
  EXPECT_DOUBLE_EQ(row.min, 11);
  EXPECT_DOUBLE_EQ(row.max, 35);
  EXPECT_DOUBLE_EQ(row.avg, 23);
  EXPECT_DOUBLE_EQ(row.wait, 11.5);
  EXPECT_NEAR(row.stddev, 8 / 23.0 * 100, 1e-9);
}

TEST(OneCclTable, CountsDoubleAndIterationsHalve) {
  EXPECT_EQ(oneccl::counts_between(0, 5), (std::vector<size_t>{0, 1, 2, 4, 5}));
  EXPECT_EQ(oneccl::counts_between(8, 4), (std::vector<size_t>{8}));
  EXPECT_EQ(oneccl::fewer_iterations(16, 262143), 16U);
  EXPECT_EQ(oneccl::fewer_iterations(16, 262144), 8U);
  EXPECT_EQ(oneccl::fewer_iterations(16, 1 << 20), 2U);
  EXPECT_EQ(oneccl::fewer_iterations(16, 1 << 30), 1U);
  EXPECT_EQ(oneccl::fewer_iterations(0, 1 << 30), 0U);
}

TEST(Names, OtherProgramsNamesAreSubcommands) {
  EXPECT_EQ(tutti::usual_words({"/bin/tutti-benchmark", "-i", "1"}),
            (Words{"tutti", "benchmark", "-i", "1"}));
  EXPECT_EQ(tutti::usual_words({"./all_reduce_perf", "-b", "8"}),
            (Words{"tutti", "perf", "all_reduce", "-b", "8"}));
  EXPECT_EQ(tutti::usual_words({"tutti", "bench", "--nccl-tests", "alltoall"}),
            (Words{"tutti", "perf", "alltoall"}));
  const Words usual = {"tutti", "run", "-n", "2", "bench", "--nccl-tests"};
  EXPECT_EQ(tutti::usual_words(usual), usual);
}

TEST(Perf, EveryCollectiveHasThirteenColumnsAndNothingWrong) {
  for (const char* name : {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce",
                           "alltoall", "gather", "scatter", "sendrecv"}) {
    const auto result = run_tutti(std::string("bench --nccl-tests ") + name +
                                  " -b 48 -e 3072 -f 8 -g 3 -n 3 -w 1 -r 1 2>&1");
    EXPECT_EQ(result.exit_status, 0) << result.output;
    const auto rows = rows_of(result.output);
    ASSERT_EQ(rows.size(), 3U) << result.output;
    for (const Words& row : rows) {
      ASSERT_EQ(row.size(), 13U) << result.output;
      EXPECT_EQ(row[8], "0") << result.output;
      const bool in_place = row[12] == "0";
      EXPECT_NE(in_place, std::string(name) == "sendrecv");
    }
    EXPECT_EQ(rows[2][0], "3072");
    EXPECT_NE(result.output.find("# Out of bounds values : 0 OK"), std::string::npos);
    EXPECT_NE(result.output.find("# Avg bus bandwidth    : "), std::string::npos);
  }
}

TEST(Perf, ManyCallsAtOnceAndNoCheckAndSteps) {
  const auto result = run_tutti(
      "perf all_reduce -b 4 -e 12 -i 4 -g 2 -n 2 -w 0 -m 3 -c 0 -d half,int8 -o all -a 3 2>&1");
  EXPECT_EQ(result.exit_status, 0) << result.output;
  const auto rows = rows_of(result.output);
  ASSERT_EQ(rows.size(), 2U * 5 * 3) << result.output;
  for (const Words& row : rows) EXPECT_EQ(row[8], "N/A");
}

TEST(Perf, BadArgumentsAreNamedWithWhatWasExpected) {
  expect_refusal("perf all_reduec", "'all_reduec', expected one of: all_reduce, all_gather");
  expect_refusal("perf all_reduce -b 2M -e 1M", "-b is 2097152, expected at most -e, 1048576");
  expect_refusal("perf broadcast -r 2 -g 2 -b 8 -e 8", "-r is 2, expected 0 to 1, or all");
  expect_refusal("perf all_reduce -G 1", "expected 0: there are no GPUs, got 1");
  expect_refusal("perf all_reduce -d quarter -b 8 -e 8",
                 "-d has 'quarter', expected one of: all, int8");
}

TEST(Benchmark, TableHasALinePerCountAndEndsWithAllDone) {
  const auto result = run_tutti(
      "benchmark -l all -y 6,3000 -i 4 -w 1 --ranks 3 -d int32,bfloat16 -r sum,max -n 2 -x on "
      "2>&1");
  EXPECT_EQ(result.exit_status, 0) << result.output;
  const auto rows = rows_of(result.output);
  ASSERT_EQ(rows.size(), 2U * 2 * 2) << result.output;
  for (const Words& row : rows) EXPECT_EQ(row.size(), 8U);
  EXPECT_EQ((Words{rows[1].begin(), rows[1].begin() + 3}), (Words{"24000", "6000", "4"}));
  EXPECT_NE(result.output.find("# Benchmarking: allgather allgatherv allreduce"),
            std::string::npos);
  EXPECT_NE(result.output.find("\n# All done\n"), std::string::npos);
}

TEST(Benchmark, EveryIterationCanBeChecked) {
  for (const char* manner : {"-p 0", "-p 1", "-p 0 -q 1 -l allreduce,allgather,reduce_scatter"}) {
    const auto result =
        run_tutti(std::string("benchmark -c all -f 5 -t 9 -i 3 -w 1 -n 2 ") + manner + " 2>&1");
    EXPECT_EQ(result.exit_status, 0) << result.output;
    EXPECT_EQ(rows_of(result.output).size(), 2U) << result.output;
  }
}

TEST(Benchmark, CommaSeparatedFileGrowsByALinePerCollective) {
  const std::string file = testing::TempDir() + "benchmark" + std::to_string(getpid()) + ".csv";
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(run_tutti("benchmark -l bcast,allreduce -y 4 -i 2 -w 0 -o " + file).exit_status, 0);
  }
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_TRUE(lines[2].starts_with("2,bcast,,float32,4,4,16,1,2,")) << lines[2];
  EXPECT_TRUE(lines[3].starts_with("2,allreduce,sum,float32,4,4,16,1,2,")) << lines[3];
  std::filesystem::remove(file);
}

TEST(Benchmark, BadArgumentsAreNamedWithWhatWasExpected) {
  expect_refusal("benchmark -l allreduec",
                 "-l has 'allreduec', expected all or some of: allgather");
  expect_refusal("benchmark -b sycl", "-b is sycl, expected host");
  expect_refusal("benchmark -i 0", "--iters");
}

}  // namespace
