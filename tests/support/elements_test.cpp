// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// That the reference is right, as far as it can be told without another.
#include "support/elements.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

namespace tutti_test {
namespace {

TEST(Elements, EveryNumberOfASmallTypeSurvivesDecodingAndEncoding) {
  for (const tutti_type type :
       {TUTTI_FLOAT16, TUTTI_BFLOAT16, TUTTI_FLOAT8_E4M3, TUTTI_FLOAT8_E5M2}) {
    const uint64_t patterns = uint64_t{1} << (8 * format_of(type).size);
    int numbers = 0;
    for (uint64_t bits = 0; bits < patterns; ++bits) {
      const double value = decode(type, bits);
      if (std::isnan(value)) continue;
      ++numbers;
      ASSERT_EQ(encode(type, value), bits) << value;
    }
    EXPECT_GT(numbers, static_cast<int>(patterns / 2));
  }
}

TEST(Elements, WideFloatsAreThoseOfTheProcessor) {
  for (const float x : {1.0f, -0.0f, 3.25e-42f, 1e38f, 0.1f}) {
    EXPECT_EQ(encode(TUTTI_FLOAT32, x), std::bit_cast<uint32_t>(x));
    EXPECT_EQ(decode(TUTTI_FLOAT32, std::bit_cast<uint32_t>(x)), x);
  }
  for (const double x : {1.0, -7e-320, 1e308, 0.1}) {
    EXPECT_EQ(encode(TUTTI_FLOAT64, x), std::bit_cast<uint64_t>(x));
    EXPECT_EQ(decode(TUTTI_FLOAT64, std::bit_cast<uint64_t>(x)), x);
  }
}

TEST(Elements, RoundingIsToNearestEven) {
  EXPECT_EQ(encode(TUTTI_FLOAT8_E4M3, 17), encode(TUTTI_FLOAT8_E4M3, 16));
  EXPECT_EQ(encode(TUTTI_FLOAT8_E4M3, 19), encode(TUTTI_FLOAT8_E4M3, 20));
  EXPECT_EQ(encode(TUTTI_FLOAT16, 2049), encode(TUTTI_FLOAT16, 2048));
  EXPECT_EQ(encode(TUTTI_FLOAT16, 65520), encode(TUTTI_FLOAT16, INFINITY));
  EXPECT_EQ(encode(TUTTI_FLOAT8_E5M2, std::ldexp(1, -17)), 0u);
}

TEST(Elements, AveragesOfIntegersTruncateTowardZero) {
  const auto average = [](int8_t a, int8_t b) {
    const Bytes left(kPeriod, static_cast<std::byte>(a));
    const Bytes right(kPeriod, static_cast<std::byte>(b));
    return static_cast<int8_t>(reduce(TUTTI_INT8, Op::kAvg, {left, right})[0]);
  };
  EXPECT_EQ(average(-3, 0), -1);
  EXPECT_EQ(average(3, 0), 1);
}

TEST(Elements, TheUsersOperationDependsOnTheOrder) {
  const Bytes a = pattern(TUTTI_INT32, Op::kUser, 0, 2, 1);
  const Bytes b = pattern(TUTTI_INT32, Op::kUser, 1, 2, 1);
  EXPECT_NE(reduce(TUTTI_INT32, Op::kUser, {a, b}), reduce(TUTTI_INT32, Op::kUser, {b, a}));
}

TEST(Elements, AProductOfComplexNumbersHasBothPartsOfAll) {
  Bytes left(kPeriod * 8);
  Bytes right(kPeriod * 8);
  const float numbers[] = {1, 2, 3, -1};
  std::memcpy(left.data(), &numbers[0], 8);
  std::memcpy(right.data(), &numbers[2], 8);
  const Bytes result = reduce(TUTTI_COMPLEX64, Op::kProd, {left, right});
  float product[2];
  std::memcpy(product, result.data(), 8);
  EXPECT_EQ(product[0], 5);
  EXPECT_EQ(product[1], 5);
}

TEST(Elements, ADifferenceIsFoundWhereItIs) {
  const Bytes period = pattern(TUTTI_INT16, Op::kUser, 0, 1, 1);
  Bytes data(5000 * 2);
  tile(data.data(), period, 2, 33, 5000);
  EXPECT_EQ(difference(data.data(), period, 2, 33, 5000), "");
  EXPECT_NE(difference(data.data(), period, 2, 34, 5000), "");
  data[2 * 4321] ^= std::byte{1};
  EXPECT_NE(difference(data.data(), period, 2, 33, 5000).find("element 4321 of 5000"),
            std::string::npos);
}

}  // namespace
}  // namespace tutti_test
