// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The definition of 16- and 8-bit floats against the tables of their standards.
#include "kernels/small_float.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace tutti {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(SmallFloat, DecodesTheNumbersOfTheStandards) {
  EXPECT_EQ(Float16::decode(0x3C00), 1.0f);
  EXPECT_EQ(Float16::decode(0xC000), -2.0f);
  EXPECT_EQ(Float16::decode(0x7BFF), 65504.0f);
  EXPECT_EQ(Float16::decode(0x0400), 0x1p-14f);
  EXPECT_EQ(Float16::decode(0x0001), 0x1p-24f);
  EXPECT_EQ(Float16::decode(0x3555), 0x1.554p-2f);
  EXPECT_EQ(Float16::decode(0xFC00), -kInfinity);
  EXPECT_EQ(Bfloat16::decode(0x3F80), 1.0f);
  EXPECT_EQ(Bfloat16::decode(0x7F7F), 0x1.FEp127f);
  EXPECT_EQ(Bfloat16::decode(0x0001), 0x1p-133f);
  EXPECT_EQ(Float8E4M3::decode(0x7E), 448.0f);
  EXPECT_EQ(Float8E4M3::decode(0x38), 1.0f);
  EXPECT_EQ(Float8E4M3::decode(0x08), 0x1p-6f);
  EXPECT_EQ(Float8E4M3::decode(0x01), 0x1p-9f);
  EXPECT_EQ(Float8E5M2::decode(0x7B), 57344.0f);
  EXPECT_EQ(Float8E5M2::decode(0x3C), 1.0f);
  EXPECT_EQ(Float8E5M2::decode(0x04), 0x1p-14f);
  EXPECT_EQ(Float8E5M2::decode(0x81), -0x1p-16f);
  EXPECT_EQ(Float8E5M2::decode(0x7C), kInfinity);
  for (const float nan :
       {Float16::decode(0x7C01), Bfloat16::decode(0xFFFF), Float8E4M3::decode(0x7F),
        Float8E4M3::decode(0xFF), Float8E5M2::decode(0x7D)}) {
    EXPECT_TRUE(std::isnan(nan));
  }
  EXPECT_EQ(std::bit_cast<uint32_t>(Float8E4M3::decode(0x80)), 0x80000000u);
}

TEST(SmallFloat, RoundsToNearestAndTiesToEven) {
  EXPECT_EQ(Float16::encode(1 + 0x1p-11f), 0x3C00);
  EXPECT_EQ(Float16::encode(1 + 3 * 0x1p-11f), 0x3C02);
  EXPECT_EQ(Float16::encode(std::nextafter(1 + 0x1p-11f, 2.0f)), 0x3C01);
  EXPECT_EQ(Float16::encode(0x1p-25f), 0x0000);
  EXPECT_EQ(Float16::encode(-0x1.8p-24f), 0x8002);
  EXPECT_EQ(Float16::encode(0x1.FFFp-15f), 0x0400);  // a denormal rounds up to a normal number
  EXPECT_EQ(Bfloat16::encode(1 + 0x1p-8f), 0x3F80);
  EXPECT_EQ(Bfloat16::encode(1 + 3 * 0x1p-8f), 0x3F82);
  EXPECT_EQ(Float8E4M3::encode(17), 0x58);
  EXPECT_EQ(Float8E4M3::encode(19), 0x5A);
  EXPECT_EQ(Float8E4M3::encode(0x1p-10f), 0x00);
  EXPECT_EQ(Float8E4M3::encode(0x1.01p-10f), 0x01);
  EXPECT_EQ(Float8E5M2::encode(-1.125f), 0xBC);
  EXPECT_EQ(Float8E5M2::encode(-1.375f), 0xBE);
}

TEST(SmallFloat, OverflowsWhereRoundingLeavesTheRange) {
  EXPECT_EQ(Float16::encode(std::nextafter(65520.0f, 0.0f)), 0x7BFF);
  EXPECT_EQ(Float16::encode(65520), 0x7C00);
  EXPECT_EQ(Bfloat16::encode(std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_EQ(Float8E4M3::encode(464), 0x7E);
  EXPECT_EQ(Float8E4M3::encode(std::nextafter(464.0f, 500.0f)), 0x7F);
  EXPECT_EQ(Float8E4M3::encode(-1e30f), 0x7F);
  EXPECT_EQ(Float8E4M3::encode(kInfinity), 0x7F);
  EXPECT_EQ(Float8E5M2::encode(std::nextafter(61440.0f, 0.0f)), 0x7B);
  EXPECT_EQ(Float8E5M2::encode(61440), 0x7C);
  EXPECT_EQ(Float8E5M2::encode(-kInfinity), 0xFC);
}

TEST(SmallFloat, EncodesNanAsTheDefaultOne) {
  EXPECT_EQ(Float16::encode(-kNan), 0x7E00);
  EXPECT_EQ(Bfloat16::encode(-kNan), 0x7FC0);
  EXPECT_EQ(Float8E4M3::encode(-kNan), 0x7F);
  EXPECT_EQ(Float8E5M2::encode(-kNan), 0x7E);
}

// Every code is what its number encodes to, every number's order is that of the codes, and a number
// between two goes to the nearer one.
template <class Small>
void check_all_codes() {
  using Code = typename Small::Bits;
  constexpr int kSign = 1 << Small::kSignShift;
  for (int magnitude = 0; magnitude < kSign; ++magnitude) {
    const float value = Small::decode(static_cast<Code>(magnitude));
    const float negative = Small::decode(static_cast<Code>(magnitude | kSign));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(negative));
      continue;
    }
    ASSERT_EQ(negative, -value);
    ASSERT_TRUE(std::signbit(negative));
    ASSERT_EQ(Small::encode(value), magnitude);
    ASSERT_EQ(Small::encode(negative), magnitude | kSign);
    const float next = Small::decode(static_cast<Code>(magnitude + 1));
    if (!std::isfinite(next)) continue;
    ASSERT_LT(value, next);
    const float middle = value + (next - value) / 2;
    if (middle == value || middle == next) continue;  // denormals of bfloat16 are those of binary32
    ASSERT_EQ(Small::encode(std::nextafter(middle, value)), magnitude);
    ASSERT_EQ(Small::encode(middle), magnitude + (magnitude & 1));
    ASSERT_EQ(Small::encode(std::nextafter(middle, next)), magnitude + 1);
  }
}

TEST(SmallFloat, EveryCodeSurvivesARoundTripAndTakesWhatIsNearest) {
  check_all_codes<Float16>();
  check_all_codes<Bfloat16>();
  check_all_codes<Float8E4M3>();
  check_all_codes<Float8E5M2>();
}

}  // namespace
}  // namespace tutti
