// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Kernels of floats of 16 and 8 bits.
#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce_small_floats.cpp"
#include <hwy/foreach_target.h>

#include "kernels/float-formats-inl.h"

#if TUTTI_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace tutti {
namespace HWY_NAMESPACE {

// kInfinity: the magnitude above which codes are NaN.
template <class Format, class Int, Int kInfinity, Int kNan>
ReduceKernel small_float_kernel(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kPremulSum: return reduce<Format, Add>;
    case ReduceOp::kProd: return reduce<Format, Multiply>;
    case ReduceOp::kMin: return reduce<Ordered<Int, kInfinity, kNan, Minimum>, Minimum>;
    case ReduceOp::kMax: return reduce<Ordered<Int, kInfinity, kNan, Maximum>, Maximum>;
    case ReduceOp::kAvg: return average<Format>;
    default: return nullptr;
  }
}

}  // namespace HWY_NAMESPACE

template <>
ReduceKernel small_float_reduce<HWY_TARGET>(ReduceOp op, DataType type) {
  using namespace HWY_NAMESPACE;
  switch (type) {
    case DataType::kFloat16: return small_float_kernel<Halves, int16_t, 0x7C00, 0x7E00>(op);
    case DataType::kBfloat16: return small_float_kernel<Bfloats, int16_t, 0x7F80, 0x7FC0>(op);
    case DataType::kFloat8E4M3: return small_float_kernel<Float8E4M3s, int8_t, 0x7E, 0x7F>(op);
    case DataType::kFloat8E5M2: return small_float_kernel<Float8E5M2s, int8_t, 0x7C, 0x7E>(op);
    default: return nullptr;
  }
}

template <>
ScaleKernel small_float_scale<HWY_TARGET>(DataType type) {
  using namespace HWY_NAMESPACE;
  switch (type) {
    case DataType::kFloat16: return scale<Halves>;
    case DataType::kBfloat16: return scale<Bfloats>;
    case DataType::kFloat8E4M3: return scale<Float8E4M3s>;
    case DataType::kFloat8E5M2: return scale<Float8E5M2s>;
    default: return nullptr;
  }
}

}  // namespace tutti
HWY_AFTER_NAMESPACE();
#endif  // TUTTI_VECTOR_TARGET
