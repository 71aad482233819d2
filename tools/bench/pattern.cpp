// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/bench/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace tutti::bench {

namespace {

// The floating-point types that C++20 does not have.
struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
};

std::optional<SmallFloat> small_float(tutti_type type) {
  switch (type) {
    case TUTTI_FLOAT16: return SmallFloat{5, 10};
    case TUTTI_BFLOAT16: return SmallFloat{8, 7};
    case TUTTI_FLOAT8_E4M3: return SmallFloat{4, 3};
    case TUTTI_FLOAT8_E5M2: return SmallFloat{5, 2};
    default: return std::nullopt;
  }
}

int bias(SmallFloat format) { return (1 << (format.exponent_bits - 1)) - 1; }

// Finite values within the type's range only.
uint32_t encode_small(SmallFloat format, double value) {
  const uint32_t sign =
      std::signbit(value) ? uint32_t{1} << (format.exponent_bits + format.mantissa_bits) : 0;
  if (value == 0) return sign;
  const int lowest = 1 - bias(format);
  const int exponent = std::max(std::ilogb(value), lowest);
  const double units = std::ldexp(std::fabs(value), format.mantissa_bits - exponent);
  // The leading one of a normal number's units carries into the exponent.
  const auto field = static_cast<uint32_t>(exponent - lowest) << format.mantissa_bits;
  return sign | (field + static_cast<uint32_t>(std::nearbyint(units)));
}

double decode_small(SmallFloat format, uint32_t bits) {
  const uint32_t mantissa = bits & ((uint32_t{1} << format.mantissa_bits) - 1);
  const uint32_t field =
      (bits >> format.mantissa_bits) & ((uint32_t{1} << format.exponent_bits) - 1);
  const bool negative = (bits >> (format.exponent_bits + format.mantissa_bits)) != 0;
  const uint32_t leading = field == 0 ? 0 : uint32_t{1} << format.mantissa_bits;
  const int exponent = std::max(static_cast<int>(field), 1) - bias(format) - format.mantissa_bits;
  const double magnitude = std::ldexp(static_cast<double>(leading + mantissa), exponent);
  return negative ? -magnitude : magnitude;
}

bool is_float(tutti_type type) { return type >= TUTTI_FLOAT16; }

// The type of each of the two parts of a complex number; else the type itself.
tutti_type part_of(tutti_type type) {
  return static_cast<tutti_type>(part_type(static_cast<DataType>(type)));
}

bool is_signed_integer(tutti_type type) { return !is_float(type) && type % 2 == 0; }

int mantissa_bits(tutti_type type) {
  if (const auto format = small_float(type)) return format->mantissa_bits;
  return part_of(type) == TUTTI_FLOAT32 ? 23 : 52;
}

uint64_t bits_of(tutti_type type, const std::byte* element) {
  uint64_t bits = 0;
  std::memcpy(&bits, element, tutti_type_size(type));  // little-endian, as all of Tutti
  return bits;
}

// The number of `rank` at position j of the period. One rank (and for some operations a second one)
// stands out at each position, a different one at the next.
int input(ReduceOp op, int rank, int ranks, int j) {
  const bool first = rank == j % ranks;
  const bool second = rank == (j / 3) % ranks;
  switch (op) {
    case ReduceOp::kProd: return (first ? 2 : 1) * (second ? 2 : 1);
    case ReduceOp::kMin: return first ? 1 + j % 2 : 3;
    case ReduceOp::kMax: return first ? 2 + j % 2 : 1;
    case ReduceOp::kBand: return 127 ^ (first ? 1 << (j % 7) : 0);
    case ReduceOp::kBor: return first ? 1 << (j % 7) : 0;
    case ReduceOp::kBxor: return (first ? 1 << (j % 7) : 0) ^ (second ? 1 << (j / 7 % 7) : 0);
    default: return (first ? 1 + j / 7 % 2 : 0) + (second ? 1 : 0);
  }
}

int combine(ReduceOp op, int a, int b) {
  switch (op) {
    case ReduceOp::kProd: return a * b;
    case ReduceOp::kMin: return std::min(a, b);
    case ReduceOp::kMax: return std::max(a, b);
    case ReduceOp::kBand: return a & b;
    case ReduceOp::kBor: return a | b;
    case ReduceOp::kBxor: return a ^ b;
    default: return a + b;
  }
}

int combine_all(ReduceOp op, int ranks, int j) {
  int result = input(op, 0, ranks, j);
  for (int rank = 1; rank < ranks; ++rank) result = combine(op, result, input(op, rank, ranks, j));
  return result;
}

std::string describe(tutti_type type, const std::byte* element) {
  if (const tutti_type part = part_of(type); part != type) {
    return fmt::format("{} + {} i", describe(part, element),
                       describe(part, element + tutti_type_size(part)));
  }
  return fmt::format("{:g} (0x{:0{}x})", decode(type, element), bits_of(type, element),
                     2 * tutti_type_size(type));
}

}  // namespace

void encode(tutti_type type, double value, std::byte* element) {
  if (const tutti_type part = part_of(type); part != type) {
    encode(part, value, element);
    return encode(part, 0, element + tutti_type_size(part));
  }
  uint64_t bits = 0;
  if (const auto format = small_float(type)) {
    bits = encode_small(*format, value);
  } else if (type == TUTTI_FLOAT32) {
    bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  } else if (type == TUTTI_FLOAT64) {
    bits = std::bit_cast<uint64_t>(value);
  } else {
    bits = static_cast<uint64_t>(static_cast<int64_t>(value));
  }
  std::memcpy(element, &bits, tutti_type_size(type));
}

double decode(tutti_type type, const std::byte* element) {
  type = part_of(type);
  const uint64_t bits = bits_of(type, element);
  if (const auto format = small_float(type)) {
    return decode_small(*format, static_cast<uint32_t>(bits));
  }
  if (type == TUTTI_FLOAT32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  if (type == TUTTI_FLOAT64) return std::bit_cast<double>(bits);
  if (!is_signed_integer(type)) return static_cast<double>(bits);
  const size_t unused = 64 - 8 * tutti_type_size(type);
  return static_cast<double>(static_cast<int64_t>(bits << unused) >> unused);
}

Pattern::Pattern(tutti_type type)
    : type_(type), width_(tutti_type_size(type)), period_(kPeriod * width_) {}

Pattern Pattern::reduction_input(tutti_type type, ReduceOp op, int rank, int ranks) {
  Pattern pattern(type);
  for (size_t j = 0; j < kPeriod; ++j) {
    encode(type, input(op, rank, ranks, static_cast<int>(j)), &pattern.period_[j * pattern.width_]);
  }
  return pattern;
}

Pattern Pattern::reduction_result(tutti_type type, ReduceOp op, int ranks) {
  Pattern pattern(type);
  const bool average = op == ReduceOp::kAvg;
  for (size_t j = 0; j < kPeriod; ++j) {
    double value = combine_all(op, ranks, static_cast<int>(j));
    if (average) value = is_float(type) ? value / ranks : std::trunc(value / ranks);
    encode(type, value, &pattern.period_[j * pattern.width_]);
  }
  // Dividing and multiplying by the reciprocal may differ in the last bit.
  pattern.exact_ = !(average && is_float(type));
  return pattern;
}

Pattern Pattern::copied(tutti_type type, int rank) {
  Pattern pattern(type);
  // A linear congruential generator; its high bits are the good ones.
  uint64_t state = static_cast<uint64_t>(rank) + 1;
  for (std::byte& byte : pattern.period_) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<std::byte>(state >> 56);
  }
  return pattern;
}

Pattern Pattern::poison(tutti_type type) {
  Pattern pattern(type);
  std::fill(pattern.period_.begin(), pattern.period_.end(), std::byte{0x55});
  return pattern;
}

void Pattern::fill(void* buffer, size_t first, size_t count) const {
  auto* out = static_cast<std::byte*>(buffer);
  for (size_t j = first % kPeriod; count > 0; j = 0) {
    const size_t run = std::min(count, kPeriod - j);
    std::memcpy(out, &period_[j * width_], run * width_);
    out += run * width_;
    count -= run;
  }
}

bool Pattern::acceptable(const std::byte* got, size_t index) const {
  const std::byte* expected = &period_[index % kPeriod * width_];
  if (std::memcmp(got, expected, width_) == 0) return true;
  if (exact_) return false;
  const tutti_type part = part_of(type_);
  for (size_t at = 0; at < width_; at += tutti_type_size(part)) {
    const double right = decode(part, expected + at);
    const double most = std::ldexp(std::fabs(right), -mantissa_bits(part));
    if (!(std::fabs(decode(part, got + at) - right) <= most)) return false;
  }
  return true;
}

std::optional<Mismatch> Pattern::find_mismatch(const void* buffer, size_t first,
                                               size_t count) const {
  const auto* got = static_cast<const std::byte*>(buffer);
  std::optional<Mismatch> found;
  size_t done = 0;
  while (done < count) {
    const size_t j = (first + done) % kPeriod;
    const size_t run = std::min(count - done, kPeriod - j);
    // The common case at the speed of memory; element by element only where something differs.
    if (std::memcmp(got + done * width_, &period_[j * width_], run * width_) != 0) {
      for (size_t i = done; i < done + run; ++i) {
        if (acceptable(got + i * width_, first + i)) continue;
        if (!found) {
          found = Mismatch{0, i, describe(type_, got + i * width_),
                           describe(type_, &period_[(first + i) % kPeriod * width_])};
        }
        ++found->wrong;
      }
    }
    done += run;
  }
  return found;
}

}  // namespace tutti::bench
