// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <string>

#include "tools/command.hpp"

namespace tutti_test {
namespace {

// "sizes" and "size" are one word.
std::string without_plural(std::string word) {
  if (word.ends_with('s')) word.pop_back();
  return word;
}

// tutti benchmark and tutti perf have the options of the programs that they stand for.
TEST(Options, OfOneLetterMeanTheSameInAllSubcommands) {
  const std::regex row(R"(^\s+((?:-\w,)+)--([\w-]+))");
  std::map<std::string, std::string> meanings;
  for (const std::string command : {"run", "bench", "explain", "tune", "verify", "trace", "top"}) {
    const std::string help = run_tutti(command + " --help").output;
    for (size_t at = 0; at < help.size();) {
      const size_t end = std::min(help.find('\n', at), help.size());
      std::smatch match;
      const std::string line = help.substr(at, end - at);
      at = end + 1;
      if (!std::regex_search(line, match, row)) continue;
      const std::string letters = match[1];
      std::string meaning = without_plural(match[2]);
      if (meaning == "byte") meaning = "size";
      for (size_t i = 1; i < letters.size(); i += 3) {
        const std::string letter = letters.substr(i, 1);
        if (letter == "h") continue;
        const auto known = meanings.emplace(letter, meaning).first;
        EXPECT_EQ(known->second, meaning) << "-" << letter << " of tutti " << command;
      }
    }
  }
  EXPECT_EQ(meanings["n"], "rank");
  EXPECT_EQ(meanings["b"], "size");
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
