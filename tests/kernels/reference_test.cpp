// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The reference kernels against answers worked out by hand.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/reduce_host.hpp"

namespace tutti {
namespace {

template <class T>
constexpr DataType kTypeOf = T::has_no_line_here;
template <>
constexpr DataType kTypeOf<int8_t> = DataType::kInt8;
template <>
constexpr DataType kTypeOf<uint8_t> = DataType::kUint8;
template <>
constexpr DataType kTypeOf<int16_t> = DataType::kInt16;
template <>
constexpr DataType kTypeOf<int32_t> = DataType::kInt32;
template <>
constexpr DataType kTypeOf<uint32_t> = DataType::kUint32;
template <>
constexpr DataType kTypeOf<int64_t> = DataType::kInt64;
template <>
constexpr DataType kTypeOf<uint64_t> = DataType::kUint64;
template <>
constexpr DataType kTypeOf<float> = DataType::kFloat32;
template <>
constexpr DataType kTypeOf<double> = DataType::kFloat64;
template <>
constexpr DataType kTypeOf<std::complex<float>> = DataType::kComplex64;
template <>
constexpr DataType kTypeOf<std::complex<double>> = DataType::kComplex128;

// Reduces one element of each source.
template <class T>
T reduce_as(DataType type, ReduceOp op, const std::vector<T>& elements, uint32_t divisor = 0) {
  std::vector<const void*> sources;
  for (const T& element : elements) sources.push_back(&element);
  T result;
  reduce_kernel_scalar(op, type)(&result, sources.data(), sources.size(), 1, {divisor, false});
  return result;
}
template <class T>
T reduce(ReduceOp op, const std::vector<T>& elements, uint32_t divisor = 0) {
  return reduce_as(kTypeOf<T>, op, elements, divisor);
}

uint32_t bits(float value) { return std::bit_cast<uint32_t>(value); }
uint64_t bits(double value) { return std::bit_cast<uint64_t>(value); }

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNegativeNan = std::bit_cast<float>(0xFFC12345u);
const float kSignalling = std::bit_cast<float>(0x7F800001u);

TEST(Reference, WrapsIntegers) {
  EXPECT_EQ(reduce<int8_t>(ReduceOp::kSum, {127, 1}), -128);
  EXPECT_EQ(reduce<uint8_t>(ReduceOp::kSum, {200, 100, 1}), 45);
  EXPECT_EQ(reduce<int32_t>(ReduceOp::kSum, {INT32_MAX, 2}), INT32_MIN + 1);
  EXPECT_EQ(reduce<int16_t>(ReduceOp::kProd, {-32768, -1}), -32768);
  EXPECT_EQ(reduce<int64_t>(ReduceOp::kProd, {int64_t{1} << 62, 6}), INT64_MIN);
  EXPECT_EQ(reduce<uint64_t>(ReduceOp::kProd, {0xFFFFFFFFFFFFFFFF, 3}), 0xFFFFFFFFFFFFFFFD);
}

TEST(Reference, ComparesIntegersByTheirSign) {
  EXPECT_EQ(reduce<int8_t>(ReduceOp::kMin, {1, -128, 5}), -128);
  EXPECT_EQ(reduce<uint8_t>(ReduceOp::kMin, {1, 128, 5}), 1);
  EXPECT_EQ(reduce<uint64_t>(ReduceOp::kMax, {1, uint64_t{1} << 63}), uint64_t{1} << 63);
  EXPECT_EQ(reduce<int64_t>(ReduceOp::kMax, {1, INT64_MIN}), 1);
}

TEST(Reference, CombinesBits) {
  EXPECT_EQ(reduce<uint32_t>(ReduceOp::kBand, {0xFF00FF00, 0x0FF00FF0}), 0x0F000F00u);
  EXPECT_EQ(reduce<uint32_t>(ReduceOp::kBor, {0xFF00FF00, 0x0FF00FF0}), 0xFFF0FFF0u);
  EXPECT_EQ(reduce<uint32_t>(ReduceOp::kBxor, {0xFF00FF00, 0x0FF00FF0}), 0xF0F0F0F0u);
}

TEST(Reference, TruncatesAveragesOfIntegersTowardZero) {
  EXPECT_EQ(reduce<int32_t>(ReduceOp::kAvg, {-3, -4}, 2), -3);
  EXPECT_EQ(reduce<int32_t>(ReduceOp::kAvg, {3, 4}, 2), 3);
  EXPECT_EQ(reduce<int32_t>(ReduceOp::kAvg, {INT32_MIN, 0}, 1), INT32_MIN);
  EXPECT_EQ(reduce<int64_t>(ReduceOp::kAvg, {INT64_MIN, 0}, 2), INT64_MIN / 2);
  EXPECT_EQ(reduce<int8_t>(ReduceOp::kAvg, {-128}, 3), -42);
  EXPECT_EQ(reduce<uint8_t>(ReduceOp::kAvg, {255}, 2), 127);
  EXPECT_EQ(reduce<int32_t>(ReduceOp::kAvg, {INT32_MIN}, 0x80000000), -1);
  EXPECT_EQ(reduce<int32_t>(ReduceOp::kAvg, {INT32_MIN}, 0xFFFFFFFF), 0);
}

TEST(Reference, DividesOnlyAnAverageThatHasADivisor) {
  EXPECT_EQ(reduce<int32_t>(ReduceOp::kAvg, {6, 4}, 0), 10);
  EXPECT_EQ(reduce<int32_t>(ReduceOp::kSum, {6, 4}, 2), 10);
  EXPECT_EQ(reduce<float>(ReduceOp::kAvg, {6, 4}, 0), 10.0f);
  EXPECT_EQ(reduce<float>(ReduceOp::kSum, {6, 4}, 2), 10.0f);
  // By division: a third multiplied by 5 would be 0x3FD55556.
  EXPECT_EQ(bits(reduce<float>(ReduceOp::kAvg, {2, 3}, 3)), 0x3FD55555u);
}

TEST(Reference, CombinesInTheOrderOfTheSources) {
  EXPECT_EQ(reduce<float>(ReduceOp::kSum, {1e8f, 1, -1e8f}), 0.0f);
  EXPECT_EQ(reduce<float>(ReduceOp::kSum, {1e8f, -1e8f, 1}), 1.0f);
  EXPECT_EQ(reduce<double>(ReduceOp::kProd, {1e200, 1e200, 1e-200}),
            std::numeric_limits<double>::infinity());
}

TEST(Reference, KeepsDenormals) {
  EXPECT_EQ(bits(reduce<float>(ReduceOp::kSum, {0x1p-149f, 0x1p-149f})), 2u);
  EXPECT_EQ(bits(reduce<float>(ReduceOp::kProd, {0x1p-126f, 0.5f})), 0x00400000u);
  EXPECT_EQ(bits(reduce<double>(ReduceOp::kMin, {0x1p-1074, 1.0})), 1u);
}

TEST(Reference, GivesTheDefaultNanForEveryNan) {
  for (const float nan : {kNegativeNan, kSignalling}) {
    for (const ReduceOp op :
         {ReduceOp::kSum, ReduceOp::kProd, ReduceOp::kMin, ReduceOp::kMax, ReduceOp::kAvg}) {
      EXPECT_EQ(bits(reduce<float>(op, {1, nan}, 2)), 0x7FC00000u);
      EXPECT_EQ(bits(reduce<float>(op, {nan, kInfinity}, 2)), 0x7FC00000u);
      EXPECT_EQ(bits(reduce<float>(op, {nan}, 2)), 0x7FC00000u);
    }
  }
  EXPECT_EQ(bits(reduce<float>(ReduceOp::kSum, {kInfinity, -kInfinity})), 0x7FC00000u);
  EXPECT_EQ(bits(reduce<float>(ReduceOp::kProd, {kInfinity, -0.0f})), 0x7FC00000u);
  EXPECT_EQ(bits(reduce<double>(ReduceOp::kMax, {1.0, -std::nan("7")})), 0x7FF8000000000000u);
}

TEST(Reference, OrdersMinusZeroBelowZero) {
  EXPECT_EQ(bits(reduce<float>(ReduceOp::kMin, {0.0f, -0.0f})), 0x80000000u);
  EXPECT_EQ(bits(reduce<float>(ReduceOp::kMin, {-0.0f, 0.0f})), 0x80000000u);
  EXPECT_EQ(bits(reduce<float>(ReduceOp::kMax, {0.0f, -0.0f})), 0u);
  EXPECT_EQ(bits(reduce<double>(ReduceOp::kMax, {-0.0, 0.0})), 0u);
  EXPECT_EQ(reduce<float>(ReduceOp::kMin, {-1, -kInfinity, 3}), -kInfinity);
  EXPECT_EQ(reduce<float>(ReduceOp::kMax, {-1, -2, -3}), -1.0f);
}

TEST(Reference, RoundsHalvesOnceAtTheEnd) {
  // 2048 + 1 is a tie in binary16 and goes back to 2048; with another 1 before rounding, 2050.
  EXPECT_EQ(reduce_as<uint16_t>(DataType::kFloat16, ReduceOp::kSum, {0x6800, 0x3C00}), 0x6800);
  EXPECT_EQ(reduce_as<uint16_t>(DataType::kFloat16, ReduceOp::kSum, {0x6800, 0x3C00, 0x3C00}),
            0x6801);
  // 256 + 1 + 1 in bfloat16.
  EXPECT_EQ(reduce_as<uint16_t>(DataType::kBfloat16, ReduceOp::kSum, {0x4380, 0x3F80, 0x3F80}),
            0x4381);
  // 65504 + 65504 - 65504 has an intermediate sum beyond binary16.
  EXPECT_EQ(reduce_as<uint16_t>(DataType::kFloat16, ReduceOp::kSum, {0x7BFF, 0x7BFF, 0xFBFF}),
            0x7BFF);
  EXPECT_EQ(reduce_as<uint16_t>(DataType::kFloat16, ReduceOp::kSum, {0x7BFF, 0x7BFF}), 0x7C00);
}

TEST(Reference, OverflowsFloatsOfEightBitsAsTheFormatsSay) {
  // 448 + 16 is a tie that goes to 448; 448 + 32 is beyond, and e4m3 has no infinity.
  EXPECT_EQ(reduce_as<uint8_t>(DataType::kFloat8E4M3, ReduceOp::kSum, {0x7E, 0x58}), 0x7E);
  EXPECT_EQ(reduce_as<uint8_t>(DataType::kFloat8E4M3, ReduceOp::kSum, {0x7E, 0x60}), 0x7F);
  EXPECT_EQ(reduce_as<uint8_t>(DataType::kFloat8E4M3, ReduceOp::kSum, {0xFE, 0xE0}), 0x7F);
  EXPECT_EQ(reduce_as<uint8_t>(DataType::kFloat8E5M2, ReduceOp::kSum, {0xFB, 0xFB}), 0xFC);
  EXPECT_EQ(reduce_as<uint8_t>(DataType::kFloat8E5M2, ReduceOp::kSum, {0x7C, 0xFC}), 0x7E);
}

TEST(Reference, MultipliesComplexNumbersByBothParts) {
  using Single = std::complex<float>;
  using Double = std::complex<double>;
  EXPECT_EQ(reduce<Single>(ReduceOp::kProd, {{1, 2}, {3, -1}}), Single(5, 5));
  EXPECT_EQ(reduce<Double>(ReduceOp::kProd, {{0, 1}, {0, 1}, {2, 3}}), Double(-2, -3));
  EXPECT_EQ(reduce<Single>(ReduceOp::kSum, {{1, 2}, {3, -1}}), Single(4, 1));
  EXPECT_EQ(reduce<Double>(ReduceOp::kAvg, {{1, 2}, {3, -1}}, 2), Double(2, 0.5));
  const Single both(0.5F, 2);
  const Single number(4, 1);
  Single scaled;
  scale_kernel_scalar(DataType::kComplex64)(&scaled, &number, &both, 1);
  EXPECT_EQ(scaled, Single(0, 8.5F));
}

TEST(Reference, RoundsEachOperationOfAComplexProduct) {
  // (1 + 2^-23)^2 is rounded before 1 is taken from it: fused, 2^-46 would be left as well.
  const float above_one = 1 + 0x1p-23F;
  const auto square =
      reduce<std::complex<float>>(ReduceOp::kProd, {{above_one, 1}, {above_one, 1}});
  EXPECT_EQ(square.real(), 0x1p-22F);
}

TEST(Reference, HasNoNumberInThePartsOfAComplexProductThatAreNone) {
  const auto product =
      reduce<std::complex<float>>(ReduceOp::kProd, {{kInfinity, 0}, {kNegativeNan, 1}});
  EXPECT_EQ(bits(product.real()), 0x7FC00000u);
  EXPECT_EQ(bits(product.imag()), 0x7FC00000u);
  const auto infinite = reduce<std::complex<float>>(ReduceOp::kProd, {{kInfinity, 1}, {1, 0}});
  EXPECT_EQ(bits(infinite.real()), bits(kInfinity));
  EXPECT_EQ(bits(infinite.imag()), 0x7FC00000u);  // infinity times 0
}

TEST(Reference, ScalesAndWraps) {
  const int8_t bytes[] = {100, -3};
  const int8_t three = 3;
  int8_t scaled[2];
  scale_kernel_scalar(DataType::kInt8)(scaled, bytes, &three, 2);
  EXPECT_EQ(scaled[0], 44);
  EXPECT_EQ(scaled[1], -9);
  const uint16_t halves[] = {0x3C01, 0x7E01};  // 1 + 2^-10, NaN
  const uint16_t one_and_a_half = 0x3E00;
  uint16_t products[2];
  scale_kernel_scalar(DataType::kFloat16)(products, halves, &one_and_a_half, 2);
  EXPECT_EQ(products[0], 0x3E02);  // 1.5 + 1.5 * 2^-10, a tie
  EXPECT_EQ(products[1], 0x7E00);
}

}  // namespace
}  // namespace tutti
