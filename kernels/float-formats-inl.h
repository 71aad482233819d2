// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How floats are brought into lanes and back, compiled once per target (see reduce-inl.h).
#if defined(TUTTI_KERNELS_FLOAT_FORMATS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TUTTI_KERNELS_FLOAT_FORMATS_INL_H_
#undef TUTTI_KERNELS_FLOAT_FORMATS_INL_H_
#else
#define TUTTI_KERNELS_FLOAT_FORMATS_INL_H_
#endif

#include "kernels/reduce-inl.h"

#if TUTTI_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace tutti {
namespace HWY_NAMESPACE {

// The default quiet NaN in place of every NaN: which NaN an addition gives differs between
// processors, and with the order of its operands.
template <class D>
HWY_INLINE hn::Vec<D> with_default_nan(D d, hn::Vec<D> v) {
  using Bits = hwy::MakeUnsigned<hn::TFromD<D>>;
  constexpr Bits kQuiet = sizeof(Bits) == 4 ? Bits{0x7FC00000} : Bits(0x7FF8000000000000);
  return hn::IfThenElse(hn::IsNaN(v), hn::BitCast(d, hn::Set(hn::Rebind<Bits, D>(), kQuiet)), v);
}

// binary32 and binary64.
template <class T>
struct Floats {
  using Element = T;
  using Lane = T;
  static constexpr bool kLong = false;
  template <class D>
  static HWY_INLINE hn::Vec<D> decode(D, hn::Vec<D> v) {
    return v;
  }
  template <class D>
  static HWY_INLINE hn::Vec<D> encode(D d, hn::Vec<D> v) {
    return with_default_nan(d, v);
  }
};

// Min and max of any float type, as signed integers. Negative numbers with all bits but the sign
// inverted have the order of the numbers, with -0 below +0. NaN becomes the extreme that wins.
// kLargest: the magnitude above which all are NaN. kNan: the default one.
template <class Int, Int kLargest, Int kNan, class Combine>
struct Ordered {
  using Element = Int;
  using Lane = Int;
  static constexpr bool kLong = false;
  static constexpr Int kMagnitude = hwy::LimitsMax<Int>();
  static constexpr Int kWinner =
      hwy::IsSame<Combine, Minimum>() ? hwy::LimitsMin<Int>() : hwy::LimitsMax<Int>();

  template <class D>
  static HWY_INLINE hn::Vec<D> swap_order(D d, hn::Vec<D> v) {
    return hn::Xor(v, hn::And(hn::BroadcastSignBit(v), hn::Set(d, kMagnitude)));
  }
  template <class D>
  static HWY_INLINE hn::Vec<D> decode(D d, hn::Vec<D> v) {
    const auto nan = hn::Gt(hn::And(v, hn::Set(d, kMagnitude)), hn::Set(d, kLargest));
    return hn::IfThenElse(nan, hn::Set(d, kWinner), swap_order(d, v));
  }
  template <class D>
  static HWY_INLINE hn::Vec<D> encode(D d, hn::Vec<D> v) {
    const auto nan = hn::Eq(v, hn::Set(d, kWinner));
    return hn::IfThenElse(nan, hn::Set(d, kNan), swap_order(d, v));
  }
};

// Small floats, in lanes of binary32, by integer arithmetic: no conversion of the processor's fits
// all of them, or does the same everywhere. Codes are named as in small_float.hpp.
template <class Code, int kExponentBits, int kMantissaBits, int kLargest, int kOverflow, int kNan>
struct SmallFloats {
  using Element = Code;
  using Lane = float;
  static constexpr bool kLong = true;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr int kSignShift = 31 - kExponentBits - kMantissaBits;
  static constexpr int kShift = 23 - kMantissaBits;  // between the mantissas
  static constexpr int32_t kRebias = (127 - kBias) << 23;
  // A binary32 whose last place is one unit of a denormal: adding it and subtracting it again
  // converts, and rounds, numbers whose unit that is.
  static constexpr int32_t kDenormalUnit = (127 + 24 - kBias - kMantissaBits) << 23;

  template <class D>
  static HWY_INLINE hn::Vec<D> decode(D d, hn::Vec<hn::Rebind<Code, D>> v) {
    const hn::Rebind<int32_t, D> di;
    const auto code = hn::BitCast(di, hn::PromoteTo(hn::Rebind<uint32_t, D>(), v));
    const auto magnitude = hn::And(code, hn::Set(di, (1 << (31 - kSignShift)) - 1));
    const auto sign = hn::ShiftLeft<kSignShift>(hn::Xor(code, magnitude));
    const auto bits = hn::ShiftLeft<kShift>(magnitude);
    const auto unit = hn::Set(di, kDenormalUnit);
    const auto denormal =
        hn::BitCast(di, hn::Sub(hn::BitCast(d, hn::Or(magnitude, unit)), hn::BitCast(d, unit)));
    const auto is_denormal = hn::Lt(magnitude, hn::Set(di, 1 << kMantissaBits));
    const auto finite = hn::IfThenElse(is_denormal, denormal, hn::Add(bits, hn::Set(di, kRebias)));
    const auto is_special = hn::Gt(magnitude, hn::Set(di, kLargest));
    const auto special = hn::Or(bits, hn::Set(di, 0x7F800000));
    return hn::BitCast(d, hn::Or(sign, hn::IfThenElse(is_special, special, finite)));
  }

  template <class D>
  static HWY_INLINE auto encode(D d, hn::Vec<D> v) {
    const hn::Rebind<int32_t, D> di;
    const hn::Rebind<uint32_t, D> du;
    const auto bits = hn::BitCast(di, v);
    const auto absolute = hn::And(bits, hn::Set(di, 0x7FFFFFFF));
    const auto odd = hn::And(hn::ShiftRight<kShift>(absolute), hn::Set(di, 1));
    const auto almost_half = hn::Set(di, (1 << (kShift - 1)) - 1 - kRebias);
    const auto normal = hn::ShiftRight<kShift>(hn::Add(hn::Add(absolute, almost_half), odd));
    const auto unit = hn::Set(di, kDenormalUnit);
    const auto sum = hn::Add(hn::BitCast(d, absolute), hn::BitCast(d, unit));
    const auto denormal = hn::Sub(hn::BitCast(di, sum), unit);
    const auto is_denormal = hn::Lt(absolute, hn::Set(di, (128 - kBias) << 23));
    const auto rounded = hn::IfThenElse(is_denormal, denormal, normal);
    const auto magnitude = hn::Min(rounded, hn::Set(di, kOverflow));
    const auto sign = hn::ShiftRight<kSignShift>(hn::BitCast(du, hn::Xor(bits, absolute)));
    const auto nan = kOverflow == kNan ? hn::Eq(magnitude, hn::Set(di, kNan))
                                       : hn::Gt(absolute, hn::Set(di, 0x7F800000));
    const auto code =
        hn::IfThenElse(nan, hn::Set(di, kNan), hn::Or(magnitude, hn::BitCast(di, sign)));
    return hn::TruncateTo(hn::Rebind<Code, D>(), hn::BitCast(du, code));
  }
};

// binary16, by the processor's conversion, which rounds and keeps denormals as wanted.
struct NativeHalves {
  using Element = hwy::float16_t;
  using Lane = float;
  static constexpr bool kLong = false;
  template <class D>
  static HWY_INLINE hn::Vec<D> decode(D d, hn::Vec<hn::Rebind<hwy::float16_t, D>> v) {
    return hn::PromoteTo(d, v);
  }
  template <class D>
  static HWY_INLINE auto encode(D d, hn::Vec<D> v) {
    return hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), with_default_nan(d, v));
  }
};

// The upper half of a binary32.
struct Bfloats {
  using Element = uint16_t;
  using Lane = float;
  static constexpr bool kLong = false;
  template <class D>
  static HWY_INLINE hn::Vec<D> decode(D d, hn::Vec<hn::Rebind<uint16_t, D>> v) {
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(hn::Rebind<uint32_t, D>(), v)));
  }
  template <class D>
  static HWY_INLINE auto encode(D d, hn::Vec<D> v) {
    const hn::Rebind<uint32_t, D> du;
    const auto bits = rounded(du, hn::BitCast(du, with_default_nan(d, v)));
    return hn::TruncateTo(hn::Rebind<uint16_t, D>(), hn::ShiftRight<16>(bits));
  }
  // The value rounded to its upper half; the lower one no longer counts.
  template <class D>
  static HWY_INLINE hn::Vec<D> rounded(D d, hn::Vec<D> bits) {
    const auto odd = hn::TestBit(bits, hn::Set(d, 0x10000));
    return hn::Add(bits, hn::IfThenElse(odd, hn::Set(d, 0x8000), hn::Set(d, 0x7FFF)));
  }

#if !HWY_HAVE_SCALABLE  // whose vectors cannot be members
  struct Pairs {
    template <class D>
    static HWY_INLINE auto decode(D, hn::Vec<D> v) {
      const hn::Repartition<uint32_t, D> du;
      const hn::Repartition<float, D> df;
      const auto bits = hn::BitCast(du, v);
      const auto even = hn::BitCast(df, hn::ShiftLeft<16>(bits));
      const auto odd = hn::BitCast(df, hn::And(bits, hn::Set(du, 0xFFFF0000)));
      return Pair<hn::Vec<decltype(df)>>{even, odd};
    }
    template <class D, class V>
    static HWY_INLINE hn::Vec<D> encode(D d, Pair<V> v) {
      const hn::Repartition<uint32_t, D> du;
      const hn::Repartition<float, D> df;
      if (!hn::AllFalse(df, hn::IsNaN(hn::Add(v.even, v.odd)))) [[unlikely]]
        v = {with_default_nan(df, v.even), with_default_nan(df, v.odd)};
      const auto even = rounded(du, hn::BitCast(du, v.even));
      const auto odd = rounded(du, hn::BitCast(du, v.odd));
      return hn::BitCast(d, hn::OrAnd(hn::ShiftRight<16>(even), odd, hn::Set(du, 0xFFFF0000)));
    }
  };
#endif
};

#if HWY_TARGET == HWY_SSE4  // has no such conversion, and Highway's stand-in truncates
using Halves = SmallFloats<uint16_t, 5, 10, 0x7BFF, 0x7C00, 0x7E00>;
#else
using Halves = NativeHalves;
#endif
using Float8E4M3s = SmallFloats<uint8_t, 4, 3, 0x7E, 0x7F, 0x7F>;
using Float8E5M2s = SmallFloats<uint8_t, 5, 2, 0x7B, 0x7C, 0x7E>;

}  // namespace HWY_NAMESPACE
}  // namespace tutti
HWY_AFTER_NAMESPACE();
#endif  // TUTTI_VECTOR_TARGET
#endif  // include guard of the target
