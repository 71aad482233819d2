// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tools/command.hpp"

namespace tutti_test {
namespace {

// tutti benchmark and tutti perf have the options of the programs that they stand for.
bool is_of_others(const std::string& command) {
  return command == "perf" || command == "benchmark";
}

struct Row {
  std::string command;
  std::vector<std::string> names;
  std::string value;
  std::string description;
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// As the command itself has them.
std::vector<Row> all_options() {
  std::vector<Row> rows;
  for (const std::string& line : split(run_tutti("--options").output, '\n')) {
    const std::vector<std::string> cells = split(line, '\t');
    if (cells.size() != 4) {
      ADD_FAILURE() << line;
      continue;
    }
    rows.push_back({cells[0], split(cells[1], ','), cells[2], cells[3]});
  }
  return rows;
}

// Where several have a name, they take the same kind of value, and call it by the same names: the
// first long one of them in the alphabet stands for all.
TEST(Options, HaveOneMeaningPerNameOverAllSubcommands) {
  std::map<std::string, Row> first;
  size_t shared = 0;
  for (const Row& row : all_options()) {
    if (is_of_others(row.command)) continue;
    for (const std::string& name : row.names) {
      const auto [known, is_new] = first.emplace(name, row);
      if (is_new) continue;
      ++shared;
      const std::string where = name + " of tutti " + known->second.command + " and " + row.command;
      EXPECT_EQ(known->second.value, row.value) << where;
      const std::set<std::string> names(row.names.begin(), row.names.end());
      const std::set<std::string> others(known->second.names.begin(), known->second.names.end());
      EXPECT_TRUE(std::ranges::includes(names, others) || std::ranges::includes(others, names))
          << where;
    }
  }
  EXPECT_GT(shared, 30U);
  EXPECT_EQ(first.at("-n").names, (std::vector<std::string>{"-n", "--ranks"}));
}

TEST(Options, ThatDrawAPictureAreNamedAlike) {
  size_t pictures = 0;
  for (const Row& row : all_options()) {
    if (row.description.find("SVG") == std::string::npos) continue;
    ++pictures;
    EXPECT_TRUE(row.names.front().starts_with("--plot")) << row.command;
    EXPECT_EQ(row.value, "FILE") << row.command;
  }
  EXPECT_EQ(pictures, 4U);
}

TEST(Options, ThatAskForJsonAreFlagsAndFilesHaveOneName) {
  for (const Row& row : all_options()) {
    const auto has = [&](const char* name) { return std::ranges::count(row.names, name) > 0; };
    if (has("--json")) {
      EXPECT_EQ(row.value, "") << row.command;
    } else if (has("--output")) {
      EXPECT_EQ(row.value, "FILE") << row.command;
    }
  }
}

TEST(Options, NameACollectiveByItself) {
  for (const char* line : {"explain allreduce", "explain -c allreduce", "simulate allreduce -n 2",
                           "verify barrier -n 2-3", "verify -c barrier -n 2-3"}) {
    EXPECT_EQ(run_tutti(line).exit_status, 0) << line;
  }
}

TEST(Options, AreShownInWordsOfPeople) {
  const std::regex raw(R"(\b(INT|UINT|FLOAT|TEXT|NONNEGATIVE|POSITIVE|REQUIRED)\b|\{false\})");
  for (const std::string& command : split(run_tutti("--options | cut -f1 | uniq").output, '\n')) {
    const std::string help = run_tutti(command + " --help").output;
    std::smatch found;
    EXPECT_FALSE(std::regex_search(help, found, raw)) << command << ": " << found.str();
    EXPECT_EQ(help.find("1073741824"), std::string::npos) << command;
  }
  EXPECT_NE(run_tutti("run --help").output.find("tutti run [OPTIONS] PROGRAM [ARGUMENT ...]"),
            std::string::npos);
}

TEST(Options, AsTheyWereAtFirstStillWork) {
  const Picture picture;
  EXPECT_EQ(run_tutti("explain allreduce -n 2 -b 64 --svg " + picture.path()).exit_status, 0);
  EXPECT_TRUE(picture.text().starts_with("<svg"));
  EXPECT_EQ(run_tutti("explain allreduce -n 2 -b 64 --device").exit_status, 0);
  const Picture json;  // a file that is gone at the end
  EXPECT_EQ(run_tutti("bench barrier -n 1 -i 2 -w 1 --json " + json.path()).exit_status, 0);
  EXPECT_NE(json.text().find("\"results\""), std::string::npos);
}

TEST(Options, OfBenchPrintJsonInsteadOfTables) {
  const std::string output = run_tutti("bench barrier -n 2 -i 2 -w 1 --json 2>/dev/null").output;
  EXPECT_TRUE(output.starts_with("{") && output.ends_with("}\n")) << output;
}

TEST(Commands, ThatAreMisspeltAreToldTheNearest) {
  const CommandResult command = run_tutti("bnch allreduce 2>&1");
  EXPECT_EQ(command.exit_status, 2);
  EXPECT_NE(command.output.find("there is no command 'bnch'; did you mean bench?"),
            std::string::npos)
      << command.output;
  expect_refusal("bench allreduce --rank 2", "--rank; did you mean --ranks?");
  EXPECT_EQ(run_tutti("quarterly 2>&1").output.find("did you mean"), std::string::npos);
}

TEST(Options, TakeTheNamesOfOtherLibraries) {
  for (const char* name : {"bcast", "broadcast"}) {
    const CommandResult result = run_tutti(std::string("explain -d float -b 4kb ") + name);
    EXPECT_EQ(result.exit_status, 0) << result.output;
    EXPECT_NE(result.output.find("broadcast"), std::string::npos) << result.output;
    EXPECT_NE(result.output.find("1024 x float32"), std::string::npos) << result.output;
  }
  EXPECT_EQ(run_tutti("verify -n 2 -c all_reduce -a inline").exit_status, 0);
  EXPECT_EQ(run_tutti("bench reduce-scatter -n 1 -b 8 -d double --seconds 0.01").exit_status, 0);
}

TEST(Options, ThatAreNoSizesAreRefused) {
  for (const char* command : {"explain allreduce -b", "bench allreduce -n 1 --max", "tune -y",
                              "bench --nccl-tests allreduce -n 1 -b"}) {
    for (const char* wrong : {"-5", "5q", "99999999999999999999"}) {
      const CommandResult result = run_tutti(std::string(command) + " " + wrong + " 2>&1");
      EXPECT_NE(result.exit_status, 0) << command;
      EXPECT_NE(result.output.find("expected a size such as 4096, 64kb or 1mb, got '"),
                std::string::npos)
          << command << " " << wrong << ": " << result.output;
    }
  }
}

}  // namespace
}  // namespace tutti_test
