// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Kernels of binary32 and binary64.
#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce_floats.cpp"
#include <hwy/foreach_target.h>

#include "kernels/float-formats-inl.h"

#if TUTTI_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace tutti {
namespace HWY_NAMESPACE {

template <class T, class Int, Int kInfinity, Int kNan>
ReduceKernel float_kernel(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kPremulSum: return reduce<Floats<T>, Add>;
    case ReduceOp::kProd: return reduce<Floats<T>, Multiply>;
    case ReduceOp::kMin: return reduce<Ordered<Int, kInfinity, kNan, Minimum>, Minimum>;
    case ReduceOp::kMax: return reduce<Ordered<Int, kInfinity, kNan, Maximum>, Maximum>;
    case ReduceOp::kAvg: return average<Floats<T>>;
    default: return nullptr;
  }
}

}  // namespace HWY_NAMESPACE

template <>
ReduceKernel float_reduce<HWY_TARGET>(ReduceOp op, DataType type) {
  using namespace HWY_NAMESPACE;
  if (type == DataType::kFloat32) {
    return float_kernel<float, int32_t, 0x7F800000, 0x7FC00000>(op);
  }
  if (type == DataType::kFloat64) {
    return float_kernel<double, int64_t, 0x7FF0000000000000, 0x7FF8000000000000>(op);
  }
  return nullptr;
}

template <>
ScaleKernel float_scale<HWY_TARGET>(DataType type) {
  using namespace HWY_NAMESPACE;
  if (type == DataType::kFloat32) return scale<Floats<float>>;
  if (type == DataType::kFloat64) return scale<Floats<double>>;
  return nullptr;
}

}  // namespace tutti
HWY_AFTER_NAMESPACE();
#endif  // TUTTI_VECTOR_TARGET
