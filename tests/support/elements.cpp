// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "support/elements.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace tutti_test {
namespace {

uint64_t load(const std::byte* from, size_t size) {
  uint64_t bits = 0;
  std::memcpy(&bits, from, size);  // little-endian, as every machine the library runs on
  return bits;
}

uint64_t mask_of(size_t size) { return size == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * size)) - 1; }

int64_t sign_extended(uint64_t bits, size_t size) {
  const auto shift = static_cast<int>(64 - 8 * size);
  return static_cast<int64_t>(bits << shift) >> shift;
}

// x -> a x + b as one number: a in the upper half of its bits, b in the lower. First `left`, then
// `right`.
uint64_t compose(uint64_t left, uint64_t right, size_t size) {
  const size_t half = 4 * size;
  const uint64_t low = (uint64_t{1} << half) - 1;
  const uint64_t a = ((left >> half) * (right >> half)) & low;
  const uint64_t b = ((right >> half) * (left & low) + (right & low)) & low;
  return (a << half) | b;
}

template <typename Bits>
void compose_elements(const void* source, void* accumulator, size_t count) {
  const auto* from = static_cast<const std::byte*>(source);
  auto* to = static_cast<std::byte*>(accumulator);
  for (size_t i = 0; i < count * sizeof(Bits); i += sizeof(Bits)) {
    Bits left;
    Bits right;
    std::memcpy(&left, to + i, sizeof(Bits));
    std::memcpy(&right, from + i, sizeof(Bits));
    const auto both = static_cast<Bits>(compose(left, right, sizeof(Bits)));
    std::memcpy(to + i, &both, sizeof(Bits));
  }
}

// Each part of a complex number is one such map.
void compose_all(const void* source, void* accumulator, size_t count, tutti_type type,
                 void* /*context*/) {
  const Format& format = format_of(type);
  count *= format.parts;
  switch (format.part_size()) {
    case 1: return compose_elements<uint8_t>(source, accumulator, count);
    case 2: return compose_elements<uint16_t>(source, accumulator, count);
    case 4: return compose_elements<uint32_t>(source, accumulator, count);
    default: return compose_elements<uint64_t>(source, accumulator, count);
  }
}

double premul_scalar(int rank) { return rank % 2 == 0 ? 2 : -2; }

struct Complex {
  double real;
  double imaginary;
};
Complex complex_scalar(int rank) { return {premul_scalar(rank), 1}; }

// `Float` is what the parts are.
template <typename Float>
Complex product(Complex left, Complex right) {
  const auto a = static_cast<Float>(left.real);
  const auto b = static_cast<Float>(left.imaginary);
  const auto c = static_cast<Float>(right.real);
  const auto d = static_cast<Float>(right.imaginary);
  return {a * c - b * d, a * d + b * c};
}
Complex product(tutti_type type, Complex left, Complex right) {
  return type == TUTTI_COMPLEX64 ? product<float>(left, right) : product<double>(left, right);
}

Complex decode_pair(tutti_type type, const std::byte* element) {
  const size_t size = format_of(type).part_size();
  return {decode(type, load(element, size)), decode(type, load(element + size, size))};
}
void encode_pair(tutti_type type, Complex value, std::byte* element) {
  const size_t size = format_of(type).part_size();
  const uint64_t parts[] = {encode(type, value.real), encode(type, value.imaginary)};
  std::memcpy(element, &parts[0], size);
  std::memcpy(element + size, &parts[1], size);
}

uint64_t scalar_bits(tutti_type type, int rank) {
  if (!format_of(type).integer) return encode(type, premul_scalar(rank));
  return static_cast<uint64_t>(static_cast<int64_t>(premul_scalar(rank)));
}

uint64_t combine_integers(Op op, uint64_t left, uint64_t right, const Format& format) {
  const int64_t a = sign_extended(left, format.size);
  const int64_t b = sign_extended(right, format.size);
  const bool less = format.is_signed ? b < a : right < left;
  switch (op) {
    case Op::kProd: return left * right;
    case Op::kMin: return less ? right : left;
    case Op::kMax: return less ? left : right;
    case Op::kBand: return left & right;
    case Op::kBor: return left | right;
    case Op::kBxor: return left ^ right;
    default: return left + right;
  }
}

// `Float` is what sums are accumulated in: double for float64, float for all others.
template <typename Float>
double combine_floats(Op op, double left, double right) {
  const bool less = right < left || (right == left && std::signbit(right) && !std::signbit(left));
  switch (op) {
    case Op::kProd: return static_cast<Float>(left) * static_cast<Float>(right);
    case Op::kMin: return less ? right : left;
    case Op::kMax: return less ? left : right;
    default: return static_cast<Float>(left) + static_cast<Float>(right);
  }
}

uint64_t reduce_integers(tutti_type type, Op op, const std::vector<uint64_t>& inputs) {
  const Format& format = format_of(type);
  uint64_t result = 0;
  for (size_t rank = 0; rank < inputs.size(); ++rank) {
    uint64_t input = inputs[rank];
    if (op == Op::kPremul) input *= scalar_bits(type, static_cast<int>(rank));
    input &= mask_of(format.size);
    result = rank == 0 ? input : combine_integers(op, result, input, format) & mask_of(format.size);
  }
  if (op != Op::kAvg) return result;
  if (!format.is_signed) return result / inputs.size();
  return static_cast<uint64_t>(sign_extended(result, format.size) /
                               static_cast<int64_t>(inputs.size()));
}

uint64_t reduce_floats(tutti_type type, Op op, const std::vector<uint64_t>& inputs) {
  const bool wide = type == TUTTI_FLOAT64 || type == TUTTI_COMPLEX128;
  double result = 0;
  for (size_t rank = 0; rank < inputs.size(); ++rank) {
    double input = decode(type, inputs[rank]);
    if (op == Op::kPremul) input *= premul_scalar(static_cast<int>(rank));
    if (rank == 0) {
      result = input;
    } else {
      result = wide ? combine_floats<double>(op, result, input)
                    : combine_floats<float>(op, result, input);
    }
  }
  const auto ranks = static_cast<double>(inputs.size());
  if (op == Op::kAvg) {
    result = wide ? result / ranks : static_cast<float>(result) / static_cast<float>(ranks);
  }
  return encode(type, result);
}

double exact_float(tutti_type type, Op op, int ranks, uint64_t random) {
  if (op == Op::kProd) {
    constexpr double kFactors[] = {1, -1, 2, 0.5};
    return kFactors[random % 4];
  }
  // Integers whose sum over all ranks stays exact in the type.
  const int64_t largest = int64_t{1} << (std::min(format_of(type).mantissa_bits, 9) + 1);
  const int64_t limit = std::max<int64_t>(1, largest / ranks);
  return static_cast<double>(static_cast<int64_t>(random % static_cast<uint64_t>(2 * limit + 1)) -
                             limit);
}

uint64_t pattern_bits(tutti_type type, Op op, int ranks, uint64_t random) {
  const Format& format = format_of(type);
  if (op == Op::kUser) return random;
  if (format.integer) {
    // Averages of sums that wrap are not interesting; everything else may wrap.
    if (op == Op::kAvg) return random % 15 - (format.is_signed ? 7 : 0);
    return random;
  }
  if (op == Op::kMin || op == Op::kMax) {
    const uint64_t bits = random & mask_of(format.size);
    return std::isnan(decode(type, bits)) ? 0 : bits;
  }
  return encode(type, exact_float(type, op, ranks, random));
}

// Products of these are exact, as long as there are few ranks, and no part of one is 0, whose sign
// would depend on the order.
Bytes factors(tutti_type type, int rank, int ranks, uint64_t salt) {
  constexpr int kMostRanks = 20;
  if (ranks > kMostRanks) throw std::logic_error("products of so many numbers are not exact");
  constexpr Complex kFactors[] = {{2, 1}, {-2, -1}, {1, 0.5}, {-1, -0.5}};
  const size_t size = format_of(type).size;
  Bytes result(kPeriod * size);
  for (size_t i = 0; i < kPeriod; ++i) {
    encode_pair(type, kFactors[mix(i, static_cast<uint64_t>(rank), salt) % 4], &result[i * size]);
  }
  return result;
}

// Products, and sums of products with each rank's factor.
Bytes reduce_pairs(tutti_type type, Op op, const std::vector<Bytes>& inputs) {
  const size_t size = format_of(type).size;
  Bytes result(kPeriod * size);
  for (size_t i = 0; i < result.size(); i += size) {
    Complex all{};
    for (size_t rank = 0; rank < inputs.size(); ++rank) {
      Complex input = decode_pair(type, &inputs[rank][i]);
      if (op == Op::kPremul) {
        input = product(type, input, complex_scalar(static_cast<int>(rank)));
      }
      if (rank == 0) {
        all = input;
      } else if (op == Op::kPremul) {
        all = {all.real + input.real, all.imaginary + input.imaginary};
      } else {
        all = product(type, all, input);
      }
    }
    encode_pair(type, all, &result[i]);
  }
  return result;
}

// All bits of an element, the highest first.
std::string in_digits(const std::byte* element, size_t size) {
  std::string text = "0x";
  for (size_t i = size; i-- > 0;) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(element[i]));
    text += digits;
  }
  return text;
}

}  // namespace

const Format& format_of(tutti_type type) {
  static constexpr Format kFormats[kTypes] = {
      {1, true, true, 0, 0, false},     {1, true, false, 0, 0, false},
      {2, true, true, 0, 0, false},     {2, true, false, 0, 0, false},
      {4, true, true, 0, 0, false},     {4, true, false, 0, 0, false},
      {8, true, true, 0, 0, false},     {8, true, false, 0, 0, false},
      {2, false, true, 5, 10, true},    {2, false, true, 8, 7, true},
      {4, false, true, 8, 23, true},    {8, false, true, 11, 52, true},
      {1, false, true, 4, 3, false},    {1, false, true, 5, 2, true},
      {8, false, true, 8, 23, true, 2}, {16, false, true, 11, 52, true, 2},
  };
  return kFormats[type];
}

double decode(tutti_type type, uint64_t bits) {
  const Format& format = format_of(type);
  const int m = format.mantissa_bits;
  const uint64_t mantissa = bits & ((uint64_t{1} << m) - 1);
  const uint64_t exponents = (uint64_t{1} << format.exponent_bits) - 1;
  const uint64_t exponent = (bits >> m) & exponents;
  const int bias = static_cast<int>(exponents / 2);
  const double sign = ((bits >> (m + format.exponent_bits)) & 1) != 0 ? -1 : 1;
  if (exponent == exponents && format.infinities) return mantissa == 0 ? sign * INFINITY : NAN;
  if (exponent == exponents && mantissa == (uint64_t{1} << m) - 1) return NAN;
  if (exponent == 0) return sign * std::ldexp(static_cast<double>(mantissa), 1 - bias - m);
  return sign * std::ldexp(static_cast<double>(mantissa + (uint64_t{1} << m)),
                           static_cast<int>(exponent) - bias - m);
}

uint64_t encode(tutti_type type, double value) {
  const Format& format = format_of(type);
  const int m = format.mantissa_bits;
  const uint64_t exponents = (uint64_t{1} << format.exponent_bits) - 1;
  const int lowest = 1 - static_cast<int>(exponents / 2);  // exponent of subnormals
  const uint64_t sign = std::signbit(value) ? uint64_t{1} << (m + format.exponent_bits) : 0;
  const double size = std::fabs(value);
  if (std::isnan(value)) throw std::logic_error("the tests never store a NaN");
  if (size == 0) return sign;
  if (std::isinf(value)) return sign | (exponents << m);
  const int exponent = std::max(std::ilogb(size), lowest);
  // nearbyint rounds to nearest even; a carry into the next exponent comes out right by itself.
  const auto steps = static_cast<uint64_t>(std::nearbyint(std::ldexp(size, m - exponent)));
  return sign | (steps + (static_cast<uint64_t>(exponent - lowest) << m));
}

const char* op_name(Op op) {
  static constexpr const char* kNames[] = {"sum",  "prod", "min",  "max",        "avg",
                                           "band", "bor",  "bxor", "premul sum", "user"};
  return kNames[static_cast<int>(op)];
}

bool op_applies(Op op, tutti_type type) {
  if (op == Op::kBand || op == Op::kBor || op == Op::kBxor) return format_of(type).integer;
  return format_of(type).parts == 1 || (op != Op::kMin && op != Op::kMax);
}

OpHandle::OpHandle(Op op, tutti_type type, int rank)
    : op_(static_cast<tutti_op>(op)), created_(op == Op::kPremul || op == Op::kUser) {
  if (!created_) return;
  std::byte scalar[16];
  if (format_of(type).parts == 2) {
    encode_pair(type, complex_scalar(rank), scalar);
  } else {
    const uint64_t bits = scalar_bits(type, rank);
    std::memcpy(scalar, &bits, sizeof bits);
  }
  const tutti_status status = op == Op::kUser ? tutti_op_create_user(compose_all, nullptr, &op_)
                                              : tutti_op_create_premul_sum(scalar, type, &op_);
  if (status != TUTTI_OK) throw std::runtime_error(tutti_last_error());
}

OpHandle::~OpHandle() {
  if (created_) tutti_op_destroy(op_);
}

Bytes pattern(tutti_type type, Op op, int rank, int ranks, uint64_t salt) {
  const Format& format = format_of(type);
  if (format.parts == 2 && op == Op::kProd) return factors(type, rank, ranks, salt);
  const size_t size = format.part_size();
  Bytes result(kPeriod * format.size);
  for (size_t i = 0; i < kPeriod * format.parts; ++i) {
    const uint64_t bits = pattern_bits(type, op, ranks, mix(i, static_cast<uint64_t>(rank), salt));
    std::memcpy(&result[i * size], &bits, size);
  }
  return result;
}

Bytes rough_pattern(tutti_type type, int rank, uint64_t salt) {
  const Format& format = format_of(type);
  const size_t size = format.part_size();
  Bytes result(kPeriod * format.size);
  for (size_t i = 0; i < kPeriod * format.parts; ++i) {
    const uint64_t random = mix(i, static_cast<uint64_t>(rank), salt);
    // Magnitudes from 1/8 to 8.
    const double fraction = 1 + static_cast<double>(random >> 12) / static_cast<double>(1ull << 52);
    const double value =
        std::ldexp(random % 2 == 0 ? fraction : -fraction, static_cast<int>((random >> 1) % 6) - 3);
    const uint64_t bits = encode(type, value);
    std::memcpy(&result[i * size], &bits, size);
  }
  return result;
}

Bytes reduce(tutti_type type, Op op, const std::vector<Bytes>& inputs) {
  const Format& format = format_of(type);
  if (format.parts == 2 && (op == Op::kProd || op == Op::kPremul)) {
    return reduce_pairs(type, op, inputs);
  }
  const size_t size = format.part_size();
  Bytes result(kPeriod * format.size);
  std::vector<uint64_t> elements(inputs.size());
  for (size_t i = 0; i < result.size(); i += size) {
    for (size_t rank = 0; rank < inputs.size(); ++rank) {
      elements[rank] = load(&inputs[rank][i], size);
    }
    uint64_t bits = elements[0];
    if (op == Op::kUser) {
      for (size_t rank = 1; rank < inputs.size(); ++rank) {
        bits = compose(bits, elements[rank], size);
      }
    } else {
      bits =
          format.integer ? reduce_integers(type, op, elements) : reduce_floats(type, op, elements);
    }
    std::memcpy(&result[i], &bits, size);
  }
  return result;
}

void tile(std::byte* to, const Bytes& period, size_t element_bytes, size_t first, size_t count) {
  size_t at = (first % kPeriod) * element_bytes;
  for (size_t left = count * element_bytes; left > 0;) {
    const size_t part = std::min(left, period.size() - at);
    std::memcpy(to, &period[at], part);
    to += part;
    left -= part;
    at = 0;
  }
}

std::string difference(const std::byte* at, const Bytes& period, size_t element_bytes, size_t first,
                       size_t count) {
  for (size_t i = 0; i < count;) {
    const size_t from = (first + i) % kPeriod;
    const size_t part = std::min(count - i, kPeriod - from);
    if (std::memcmp(at + i * element_bytes, &period[from * element_bytes], part * element_bytes) ==
        0) {
      i += part;
      continue;
    }
    size_t j = 0;
    while (std::memcmp(at + (i + j) * element_bytes, &period[(from + j) * element_bytes],
                       element_bytes) == 0) {
      ++j;
    }
    return "element " + std::to_string(i + j) + " of " + std::to_string(count) + " is " +
           in_digits(at + (i + j) * element_bytes, element_bytes) + ", should be " +
           in_digits(&period[(from + j) * element_bytes], element_bytes);
  }
  return "";
}

uint64_t mix(uint64_t a, uint64_t b, uint64_t c) {
  uint64_t x = a * 0x9E3779B97F4A7C15u + b * 0xD1B54A32D192ED03u + c * 0x8CB92BA72F3D8DD7u + 1;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

}  // namespace tutti_test
