// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Floats of 16 and 8 bits, one at a time and by arithmetic rather than by tricks with bits. This is
// the definition that the vectorised conversions are tested against.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tutti {

// Bits: sign, kExponentBits, kMantissaBits. kLargest is the code of the largest finite magnitude.
// kOverflow stands above it (infinity, or in e4m3, which has none, NaN), and is the result of
// rounding beyond kLargest. kNan is the default quiet NaN.
template <class Code, int kExponentBits, int kMantissaBits, Code kLargest, Code kOverflow,
          Code kNan>
struct SmallFloat {
  using Bits = Code;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr int kSignShift = kExponentBits + kMantissaBits;
  static constexpr int kImplicitOne = 1 << kMantissaBits;

  static float decode(Code code) {
    const int magnitude = code & ((1 << kSignShift) - 1);
    const bool negative = (code >> kSignShift) != 0;
    float value;
    if (magnitude <= kLargest) {
      const int exponent = magnitude >> kMantissaBits;
      const int mantissa = magnitude & (kImplicitOne - 1);
      value = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), 1 - kBias - kMantissaBits)
                            : std::ldexp(static_cast<float>(kImplicitOne + mantissa),
                                         exponent - kBias - kMantissaBits);
    } else if (magnitude == kOverflow && kOverflow != kNan) {
      value = std::numeric_limits<float>::infinity();
    } else {
      value = std::numeric_limits<float>::quiet_NaN();
    }
    return negative ? -value : value;
  }

  // Rounds to nearest, ties to even.
  static Code encode(float value) {
    if (std::isnan(value)) return kNan;
    const int magnitude = encode_magnitude(std::fabs(value));
    if (magnitude > kLargest && kOverflow == kNan) return kNan;
    return static_cast<Code>(magnitude | (std::signbit(value) ? 1 << kSignShift : 0));
  }

 private:
  static int encode_magnitude(float value) {
    if (std::isinf(value)) return kOverflow;
    if (value == 0) return 0;
    const int lowest = 1 - kBias;
    const int exponent = std::max(std::ilogb(value), lowest);
    if (exponent > kBias + 1) return kOverflow;
    // The value in units of the last place; in [kImplicitOne, 2 * kImplicitOne] if not denormal.
    const double units = std::nearbyint(std::ldexp(double{value}, kMantissaBits - exponent));
    const int magnitude = (exponent - lowest) * kImplicitOne + static_cast<int>(units);
    return magnitude > kLargest ? kOverflow : magnitude;
  }
};

using Float16 = SmallFloat<uint16_t, 5, 10, 0x7BFF, 0x7C00, 0x7E00>;
using Bfloat16 = SmallFloat<uint16_t, 8, 7, 0x7F7F, 0x7F80, 0x7FC0>;
// OCP 8-bit floating point, as conversions without saturation define it.
using Float8E4M3 = SmallFloat<uint8_t, 4, 3, 0x7E, 0x7F, 0x7F>;
using Float8E5M2 = SmallFloat<uint8_t, 5, 2, 0x7B, 0x7C, 0x7E>;

}  // namespace tutti
