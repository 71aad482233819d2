// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Elements to test kernels with: special values, ordinary ones and random bits.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/types.hpp"
#include "kernels/small_float.hpp"

namespace tutti {

inline const std::vector<DataType>& all_types() {
  static const std::vector<DataType> types = [] {
    std::vector<DataType> list;
    for (int t = 0; t < kDataTypes; ++t) list.push_back(static_cast<DataType>(t));
    return list;
  }();
  return types;
}

inline const std::vector<ReduceOp>& all_ops() {
  static const std::vector<ReduceOp> ops = {ReduceOp::kSum, ReduceOp::kProd, ReduceOp::kMin,
                                            ReduceOp::kMax, ReduceOp::kAvg,  ReduceOp::kBand,
                                            ReduceOp::kBor, ReduceOp::kBxor, ReduceOp::kPremulSum};
  return ops;
}

// Codes that stand at an edge of the type, as bits; of a part of a complex number.
inline std::vector<uint64_t> special_codes(DataType type) {
  switch (part_type(type)) {
    case DataType::kFloat16:
      return {0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400, 0x7BFF, 0xFBFF,
              0x3C00, 0x7C00, 0xFC00, 0x7E00, 0xFE00, 0x7C01, 0xFFFF};
    case DataType::kBfloat16:
      return {0x0000, 0x8000, 0x0001, 0x8001, 0x007F, 0x0080, 0x7F7F, 0xFF7F,
              0x3F80, 0x7F80, 0xFF80, 0x7FC0, 0xFFC0, 0x7F81, 0xFFFF};
    case DataType::kFloat32:
      return {0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF,
              0x00800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x3F800000, 0x7F800000,
              0xFF800000, 0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFFFFFFF};
    case DataType::kFloat64:
      return {0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x000FFFFFFFFFFFFF,
              0x0010000000000000, 0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF, 0x3FF0000000000000,
              0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0xFFF8000000000000,
              0x7FF0000000000001, 0xFFFFFFFFFFFFFFFF};
    default:  // extremes of integers; 8-bit floats are tested exhaustively besides
      return {0,    1,      ~uint64_t{0}, ~uint64_t{0} >> 1, uint64_t{1} << 63, 0x7F,
              0x80, 0x7FFF, 0x8000,       0x7FFFFFFF,        0x80000000};
  }
}

// The code of an ordinary number.
inline uint64_t ordinary_code(DataType type, std::mt19937_64& random) {
  const double number = std::uniform_real_distribution<double>(-2, 2)(random);
  const auto single = static_cast<float>(number);
  switch (part_type(type)) {
    case DataType::kFloat16: return Float16::encode(single);
    case DataType::kBfloat16: return Bfloat16::encode(single);
    case DataType::kFloat32: return std::bit_cast<uint32_t>(single);
    case DataType::kFloat64: return std::bit_cast<uint64_t>(number);
    case DataType::kFloat8E4M3: return Float8E4M3::encode(single);
    case DataType::kFloat8E5M2: return Float8E5M2::encode(single);
    default: return static_cast<uint64_t>(static_cast<int64_t>(number * 50));
  }
}

inline void put_code(uint64_t code, DataType type, void* element) {
  std::memcpy(element, &code, type_size(type));  // all machines that this runs on: little-endian
}

// `count` elements: a sixth special, half of the rest ordinary, the others random bits.
inline std::vector<uint8_t> mixed_elements(DataType type, size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  if (is_complex(type)) return mixed_elements(part_type(type), 2 * count, seed);
  const std::vector<uint64_t> special = special_codes(type);
  std::vector<uint8_t> elements(count * type_size(type));
  for (size_t i = 0; i < count; ++i) {
    const uint64_t choice = random() % 12;
    uint64_t code = random();
    if (choice < 2)
      code = special[code % special.size()];
    else if (choice < 7)
      code = ordinary_code(type, random);
    put_code(code, type, elements.data() + i * type_size(type));
  }
  return elements;
}

// A type's name as a test's.
inline std::string test_name(DataType type) { return std::string(type_name(type)); }

}  // namespace tutti
