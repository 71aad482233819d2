// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/tuned.hpp"

#include <gtest/gtest.h>

namespace tutti::tuned {
namespace {

constexpr Trial kHalf{"kIt", 0.5};
constexpr Trial kTwice{"kIt", 2};

TEST(Tuned, OnlyTheConstantThatIsTriedIsMultiplied) {
  EXPECT_EQ(tried<uint64_t>(kHalf, "kIt", "bytes", 4096), 2048U);
  EXPECT_EQ(tried<uint64_t>(kTwice, "kIt", "bytes", 4096), 8192U);
  EXPECT_EQ(tried<uint64_t>(kTwice, "kOther", "bytes", 4096), 4096U);
  EXPECT_EQ(tried<uint64_t>({"", 1}, "kIt", "bytes", 4096), 4096U);
}

TEST(Tuned, NumbersAreRoundedAndAtLeastOne) {
  EXPECT_EQ(tried<int>(kHalf, "kIt", "calls", 3), 2);
  EXPECT_EQ(tried<int>(kHalf, "kIt", "calls", 1), 1);
  EXPECT_EQ(tried<double>(kHalf, "kIt", "s", 1e-6), 0.5e-6);
}

TEST(Tuned, OfAFactorIsMultipliedWhatItDiffersFromOne) {
  EXPECT_DOUBLE_EQ(tried<double>(kHalf, "kIt", "factor", 1.5), 1.25);
  EXPECT_DOUBLE_EQ(tried<double>(kTwice, "kIt", "factor", 1.5), 2);
  EXPECT_DOUBLE_EQ(tried<double>(kTwice, "kIt", "factor", 0.9), 0.8);
}

}  // namespace
}  // namespace tutti::tuned
