// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/log.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <regex>
#include <thread>
#include <vector>

namespace tutti {
namespace {

// Gives what `body` writes to standard error; at most what a pipe holds (64 KiB).
template <typename Body>
std::string standard_error_of(Body&& body) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const int saved = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  close(ends[1]);
  body();
  dup2(saved, STDERR_FILENO);
  close(saved);
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = read(ends[0], buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<size_t>(n));
  }
  close(ends[0]);
  return text;
}

// Without what tells the time of each line: "2026-11-27 09:30:12.345 ".
std::string without_times(const std::string& text) {
  return std::regex_replace(text, std::regex(R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} )"), "");
}

class Log : public testing::Test {
 protected:
  ~Log() override {
    log::set_level(LogLevel::kWarn);
    log::set_rank(-1);
  }
};

TEST_F(Log, ALineBeginsWithRankAndLevel) {
  EXPECT_EQ(without_times(standard_error_of([] { log::warn("{} is odd", 3); })),
            "tutti: warn: 3 is odd\n");
  log::set_rank(5);
  EXPECT_EQ(without_times(standard_error_of([] { log::error("no {}", "way"); })),
            "tutti[5] error: no way\n");
}

TEST_F(Log, EveryLineOfATextHasThePrefix) {
  const auto lines = [](std::string_view text) {
    return without_times(log::format_lines(LogLevel::kInfo, 0, 1, text));
  };
  EXPECT_EQ(lines("a\n\nb\n"), "tutti[0] info: a\ntutti[0] info: \ntutti[0] info: b\n");
  EXPECT_EQ(lines(""), "tutti[0] info: \n");
}

TEST_F(Log, NothingCommandsTheTerminal) {
  const std::string lines =
      without_times(log::format_lines(LogLevel::kInfo, 0, 1, "\"a\x1b[2J\xff\x07\": b"));
  EXPECT_EQ(lines, "tutti[0] info: \"a?[2J??\": b\n");
}

TEST_F(Log, ALineTellsTheTimeOfTheHost) {
  setenv("TZ", "UTC", 1);
  tzset();
  EXPECT_EQ(log::format_lines(LogLevel::kWarn, 2, 1'767'225'599'007, "x"),
            "tutti[2] 2025-12-31 23:59:59.007 warn: x\n");
}

TEST_F(Log, TheLevelDecidesWhatIsWritten) {
  const auto all = [] {
    log::error("1");
    log::warn("2");
    log::info("3");
    log::debug("4");
    log::trace("5");
  };
  EXPECT_EQ(without_times(standard_error_of(all)), "tutti: error: 1\ntutti: warn: 2\n");
  log::set_level(LogLevel::kError);
  EXPECT_EQ(without_times(standard_error_of(all)), "tutti: error: 1\n");
  log::set_level(LogLevel::kTrace);
  EXPECT_TRUE(without_times(standard_error_of(all)).ends_with("tutti: trace: 5\n"));
}

TEST_F(Log, ErrnoSurvives) {
  standard_error_of([] {
    errno = EDOM;
    log::error("x");
    EXPECT_EQ(errno, EDOM);
  });
}

TEST_F(Log, LinesOfSeveralThreadsDoNotMix) {
  constexpr int kThreads = 4;
  constexpr int kLines = 100;
  const std::string text = without_times(standard_error_of([] {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([t] {
        for (int i = 0; i < kLines; ++i)
          log::warn("{}", std::string(50, static_cast<char>('a' + t)));
      });
    }
  }));
  int lines = 0;
  for (size_t at = 0; at < text.size(); ++lines) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    const std::string body = line.substr(std::string("tutti: warn: ").size());
    EXPECT_EQ(body, std::string(50, body[0]));
    at += line.size() + 1;
  }
  EXPECT_EQ(lines, kThreads * kLines);
}

}  // namespace
}  // namespace tutti
