// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/files.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(Files, GivesNoTextOfWhatIsNotThere) {
  EXPECT_EQ(text_in_file("/proc/no such file"), "");
  EXPECT_EQ(text_in_file("/proc/self/comm").back(), '\n');
}

// As of /proc/PID/syscall, where whoever looks may not trace the process, or it has just ended.
TEST(Files, GivesNoTextOfWhatCanBeOpenedAndNotRead) { EXPECT_EQ(text_in_file("/proc/self"), ""); }

}  // namespace
}  // namespace tutti
