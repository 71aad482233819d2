// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Kernels of complex numbers: rows of floats, of which two are one number. Sums are those of the
// floats; only products look at both parts.
#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce_complex.cpp"
#include <hwy/foreach_target.h>

#include "kernels/float-formats-inl.h"

#if TUTTI_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace tutti {
namespace HWY_NAMESPACE {

// a b of each pair of lanes, the real part in the even one.
struct MultiplyPairs {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> a, hn::Vec<D> b) const {
    const auto by_real = hn::Mul(hn::DupEven(a), b);
    const auto by_imaginary = hn::Mul(hn::DupOdd(a), hn::Reverse2(d, b));
    return hn::OddEven(hn::Add(by_real, by_imaginary), hn::Sub(by_real, by_imaginary));
  }
};
template <class T>
struct MultiplyPairsBy {
  T real;
  T imaginary;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> v) const {
    return MultiplyPairs()(d, v, hn::OddEven(hn::Set(d, imaginary), hn::Set(d, real)));
  }
};

// A Math of products.
template <class T, class Finish = Keep>
struct Products : Math<Floats<T>, MultiplyPairs, Finish> {
  static constexpr size_t kTogether = 2;
};

template <class T>
void multiply(void* dst, const void* const* sources, size_t k, size_t count,
              const ReduceOptions& options) {
  reduce_with(Products<T>{}, dst, sources, k, 2 * count, options);
}

template <ReduceKernel kOfFloats>
void by_parts(void* dst, const void* const* sources, size_t k, size_t count,
              const ReduceOptions& options) {
  kOfFloats(dst, sources, k, 2 * count, options);
}

template <class T>
void scale_pairs(void* dst, const void* source, const void* scalar, size_t count) {
  T parts[2];
  hwy::CopyBytes<sizeof parts>(scalar, parts);
  const Products<T, MultiplyPairsBy<T>> math{{{parts[0], parts[1]}}};
  reduce_elements(math, One{source}, Destination<false>{dst}, 2 * count);
}

template <class T>
ReduceKernel complex_kernel(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kPremulSum: return by_parts<reduce<Floats<T>, Add>>;
    case ReduceOp::kProd: return multiply<T>;
    case ReduceOp::kAvg: return by_parts<average<Floats<T>>>;
    default: return nullptr;
  }
}

}  // namespace HWY_NAMESPACE

template <>
ReduceKernel complex_reduce<HWY_TARGET>(ReduceOp op, DataType type) {
  using namespace HWY_NAMESPACE;
  return type == DataType::kComplex64 ? complex_kernel<float>(op) : complex_kernel<double>(op);
}

template <>
ScaleKernel complex_scale<HWY_TARGET>(DataType type) {
  using namespace HWY_NAMESPACE;
  return type == DataType::kComplex64 ? scale_pairs<float> : scale_pairs<double>;
}

}  // namespace tutti
HWY_AFTER_NAMESPACE();
#endif  // TUTTI_VECTOR_TARGET
