// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/files.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

namespace tutti {
namespace {

TEST(Files, GivesNoTextOfWhatIsNotThere) {
  EXPECT_EQ(text_in_file("/proc/no such file"), "");
  EXPECT_EQ(text_in_file("/proc/self/comm").back(), '\n');
}

// As of /proc/PID/syscall, where whoever looks may not trace the process, or it has just ended.
TEST(Files, GivesNoTextOfWhatCanBeOpenedAndNotRead) { EXPECT_EQ(text_in_file("/proc/self"), ""); }

// A process that is killed while it writes leaves its draft.
TEST(Files, RemovesOldDraftsOfAFileThatItReplacesAndNothingElse) {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::path(testing::TempDir()) / ("tutti-files-" + std::to_string(getpid()));
  fs::create_directory(folder);
  const auto make = [&](const char* name, int hours_ago) {
    std::ofstream(folder / name) << "half";
    fs::last_write_time(folder / name,
                        fs::file_time_type::clock::now() - std::chrono::hours(hours_ago));
  };
  make("metrics.draft-77-0", 2);
  make("metrics.draft-78-0", 0);
  make("other.draft-77-0", 2);
  make("metrics.old", 2);
  EXPECT_TRUE(replace_file((folder / "metrics").string(), "whole", kPrivateFile).ok());
  EXPECT_EQ(text_in_file((folder / "metrics").string()), "whole");
  EXPECT_FALSE(fs::exists(folder / "metrics.draft-77-0")) << "nobody writes it any more";
  EXPECT_TRUE(fs::exists(folder / "metrics.draft-78-0")) << "somebody may write it just now";
  EXPECT_TRUE(fs::exists(folder / "other.draft-77-0")) << "it is of another file";
  EXPECT_TRUE(fs::exists(folder / "metrics.old"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace tutti
