// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "comm/shared_tuning.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "support/threads_as_ranks.hpp"

namespace tutti {
namespace {

// What each of three ranks gets if they have these files.
std::vector<Result<FoundTuning>> share(const std::vector<std::string>& files) {
  const auto ranks = static_cast<int>(files.size());
  ThreadMeeting meeting(ranks);
  std::vector<Result<FoundTuning>> results(files.size(), FoundTuning());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      Environment environment;
      environment.tuning_file = files[static_cast<size_t>(rank)];
      Runtime runtime(environment);
      ThreadExchange exchange(meeting, rank);
      results[static_cast<size_t>(rank)] = share_tuning(exchange, runtime);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return results;
}

TEST(SharedTuning, WhatRankZeroHasCounts) {
  const std::string path =
      testing::TempDir() + "tutti_shared_" + std::to_string(getpid()) + ".json";
  Tuning tuning;
  tuning.key = this_machine();
  tuning.devices = {{"level-zero", "a", "1", true, {.launch_s = 3e-6}}};
  for (int i = 0; i < 200; ++i) {  // several pieces
    tuning.choices.push_back({Collective::kBarrier, 3, 2, 0, static_cast<uint64_t>(i),
                              find_algorithm(Collective::kBarrier, "dissemination")});
  }
  ASSERT_TRUE(write_tuning_file(path, tuning).ok());
  for (const auto& result : share({path, "none", "/not/there"})) {
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(result->path, path);
    EXPECT_EQ(print_tuning(result->tuning), print_tuning(tuning));
  }
  const auto measured = share({"none", path, path});
  for (const auto& result : measured) {
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(result->path, "");
    EXPECT_EQ(print_tuning(result->tuning), print_tuning(measured[0]->tuning));
  }
  std::filesystem::remove(path);
}

TEST(SharedTuning, AnErrorOfRankZeroIsEverybodys) {
  for (const auto& result : share({"/not/there", "none", "none"})) {
    EXPECT_FALSE(result.ok());
    EXPECT_NE(result.status().message().find("/not/there"), std::string::npos);
  }
}

}  // namespace
}  // namespace tutti
