// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Kernels of integers. Signed and unsigned ones share what gives them the same bits.
#include "kernels/divide.hpp"
#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce_integers.cpp"
#include <hwy/foreach_target.h>

#include "kernels/reduce-inl.h"

#if TUTTI_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace tutti {
namespace HWY_NAMESPACE {

// Bytes in lanes of 16 bits, for no target multiplies bytes.
struct WidenedBytes {
  using Element = uint8_t;
  using Lane = uint16_t;
  static constexpr bool kLong = false;
  template <class D>
  static HWY_INLINE hn::Vec<D> decode(D d, hn::Vec<hn::Rebind<uint8_t, D>> v) {
    return hn::PromoteTo(d, v);
  }
  template <class D>
  static HWY_INLINE auto encode(D, hn::Vec<D> v) {
    return hn::TruncateTo(hn::Rebind<uint8_t, D>(), v);
  }
};

template <class T>
struct Factors : Plain<T> {};
template <>
struct Factors<uint8_t> : WidenedBytes {};

struct BitAnd {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> a, hn::Vec<D> b) const {
    return hn::And(a, b);
  }
};
struct BitOr {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> a, hn::Vec<D> b) const {
    return hn::Or(a, b);
  }
};
struct BitXor {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> a, hn::Vec<D> b) const {
    return hn::Xor(a, b);
  }
};

// No target divides integers in vectors; one by one, it takes longer than a second pass over dst.
template <class T>
void integer_average(void* dst, const void* const* sources, size_t k, size_t count,
                     const ReduceOptions& options) {
  using Sum = Plain<hwy::MakeUnsigned<T>>;
  if (options.divisor <= 1) return reduce<Sum, Add>(dst, sources, k, count, options);
  reduce<Sum, Add>(dst, sources, k, count, {});
  divide_elements<T>(dst, count, options.divisor);
  if (options.copy == nullptr) return;
  copy_bytes(options.copy, dst, count * sizeof(T),
             options.copy_non_temporal ? CopyHint::kNonTemporal : CopyHint::kTemporal);
}

// Bit operations are those of bytes for every type.
template <class Combine, size_t kElementBytes>
void reduce_bits(void* dst, const void* const* sources, size_t k, size_t count,
                 const ReduceOptions& options) {
  reduce<Plain<uint8_t>, Combine>(dst, sources, k, count * kElementBytes, options);
}

template <class T>
ReduceKernel integer_kernel(ReduceOp op) {
  using Unsigned = hwy::MakeUnsigned<T>;
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kPremulSum: return reduce<Plain<Unsigned>, Add>;
    case ReduceOp::kProd: return reduce<Factors<Unsigned>, Multiply>;
    case ReduceOp::kMin: return reduce<Plain<T>, Minimum>;
    case ReduceOp::kMax: return reduce<Plain<T>, Maximum>;
    case ReduceOp::kAvg: return integer_average<T>;
    case ReduceOp::kBand: return reduce_bits<BitAnd, sizeof(T)>;
    case ReduceOp::kBor: return reduce_bits<BitOr, sizeof(T)>;
    case ReduceOp::kBxor: return reduce_bits<BitXor, sizeof(T)>;
    default: return nullptr;
  }
}

}  // namespace HWY_NAMESPACE

template <>
ReduceKernel integer_reduce<HWY_TARGET>(ReduceOp op, DataType type) {
  using namespace HWY_NAMESPACE;
  switch (type) {
    case DataType::kInt8: return integer_kernel<int8_t>(op);
    case DataType::kUint8: return integer_kernel<uint8_t>(op);
    case DataType::kInt16: return integer_kernel<int16_t>(op);
    case DataType::kUint16: return integer_kernel<uint16_t>(op);
    case DataType::kInt32: return integer_kernel<int32_t>(op);
    case DataType::kUint32: return integer_kernel<uint32_t>(op);
    case DataType::kInt64: return integer_kernel<int64_t>(op);
    case DataType::kUint64: return integer_kernel<uint64_t>(op);
    default: return nullptr;
  }
}

template <>
ScaleKernel integer_scale<HWY_TARGET>(DataType type) {
  using namespace HWY_NAMESPACE;
  switch (type) {
    case DataType::kInt8:
    case DataType::kUint8: return scale<Factors<uint8_t>>;
    case DataType::kInt16:
    case DataType::kUint16: return scale<Factors<uint16_t>>;
    case DataType::kInt32:
    case DataType::kUint32: return scale<Factors<uint32_t>>;
    case DataType::kInt64:
    case DataType::kUint64: return scale<Factors<uint64_t>>;
    default: return nullptr;
  }
}

}  // namespace tutti
HWY_AFTER_NAMESPACE();
#endif  // TUTTI_VECTOR_TARGET
