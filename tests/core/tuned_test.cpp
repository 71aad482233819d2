// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/tuned.hpp"

#include <gtest/gtest.h>

namespace tutti::tuned {
namespace {

constexpr Trial kHalf{"kIt", 0.5};
constexpr Trial kTwice{"kIt", 2};

TEST(Tuned, OnlyTheConstantThatIsTriedIsMultiplied) {
  EXPECT_EQ(tried<uint64_t>(kHalf, "kIt", 4096), 2048U);
  EXPECT_EQ(tried<uint64_t>(kTwice, "kIt", 4096), 8192U);
  EXPECT_EQ(tried<uint64_t>(kTwice, "kOther", 4096), 4096U);
  EXPECT_EQ(tried<uint64_t>({"", 1}, "kIt", 4096), 4096U);
}

TEST(Tuned, NumbersAreRoundedAndAtLeastOne) {
  EXPECT_EQ(tried<int>(kHalf, "kIt", 3), 2);
  EXPECT_EQ(tried<int>(kHalf, "kIt", 1), 1);
}

}  // namespace
}  // namespace tutti::tuned
