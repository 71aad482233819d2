// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The instruction sets that the kernels are compiled for. Include before any header of Highway.
//
// Each of reduce_integers.cpp, reduce_floats.cpp, reduce_small_floats.cpp, reduce_complex.cpp and
// copy.cpp is compiled once per target and defines there what this file declares. Highway's scalar
// fallback is not used: the reference of reduce_reference.cpp stands in its place.
#pragma once

// Left out: those that gain nothing over a neighbour here, each of which would cost compile time.
// Few: to sanitizers one is like the other, and who only tries waits less.
#ifdef TUTTI_FEW_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE_256 | HWY_SVE2 | HWY_SVE2_128)
#else
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE_256 | HWY_SVE2_128)
#endif

// Highway's assertions would need Highway's library (processor.hpp).
#define HWY_IS_DEBUG_BUILD 0

#include <hwy/detect_targets.h>

#include "kernels/copy.hpp"
#include "kernels/processor.hpp"
#include "kernels/reduce_host.hpp"

// True while a file is compiled for a target with vectors.
#define TUTTI_VECTOR_TARGET (HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128)

namespace tutti {

using CopyKernel = void (*)(void* dst, const void* source, size_t bytes);
using TwinCopyKernel = void (*)(void* dst, bool non_temporal, void* other, bool non_temporal_other,
                                const void* source, size_t bytes);

// Kernels of one target; nullptr where the type is another file's or the operation does not exist.
template <int64_t kTarget>
ReduceKernel integer_reduce(ReduceOp op, DataType type);
template <int64_t kTarget>
ReduceKernel float_reduce(ReduceOp op, DataType type);
template <int64_t kTarget>
ReduceKernel small_float_reduce(ReduceOp op, DataType type);
template <int64_t kTarget>
ReduceKernel complex_reduce(ReduceOp op, DataType type);
template <int64_t kTarget>
ScaleKernel integer_scale(DataType type);
template <int64_t kTarget>
ScaleKernel float_scale(DataType type);
template <int64_t kTarget>
ScaleKernel small_float_scale(DataType type);
template <int64_t kTarget>
ScaleKernel complex_scale(DataType type);
// Copies at least kLeastLongCopy bytes, from the end to the beginning.
template <int64_t kTarget>
void backward_copy(void* dst, const void* source, size_t bytes);
// Copies with non-temporal stores.
template <int64_t kTarget>
void non_temporal_copy(void* dst, const void* source, size_t bytes);
// Copies at least kLeastLongCopy bytes to two places, from the end to the beginning, each
// with non-temporal stores or without.
template <int64_t kTarget>
void twin_copy(void* dst, bool non_temporal, void* other, bool non_temporal_other,
               const void* source, size_t bytes);

#define TUTTI_DECLARE_TARGET(target)                                                         \
  template <>                                                                                \
  ReduceKernel integer_reduce<target>(ReduceOp, DataType);                                   \
  template <>                                                                                \
  ReduceKernel float_reduce<target>(ReduceOp, DataType);                                     \
  template <>                                                                                \
  ReduceKernel small_float_reduce<target>(ReduceOp, DataType);                               \
  template <>                                                                                \
  ReduceKernel complex_reduce<target>(ReduceOp, DataType);                                   \
  template <>                                                                                \
  ScaleKernel integer_scale<target>(DataType);                                               \
  template <>                                                                                \
  ScaleKernel float_scale<target>(DataType);                                                 \
  template <>                                                                                \
  ScaleKernel small_float_scale<target>(DataType);                                           \
  template <>                                                                                \
  ScaleKernel complex_scale<target>(DataType);                                               \
  template <>                                                                                \
  void backward_copy<target>(void* dst, const void* source, size_t bytes);                   \
  template <>                                                                                \
  void non_temporal_copy<target>(void* dst, const void* source, size_t bytes);               \
  template <>                                                                                \
  void twin_copy<target>(void* dst, bool non_temporal, void* other, bool non_temporal_other, \
                         const void* source, size_t bytes);
TUTTI_DECLARE_TARGET(HWY_AVX3)
TUTTI_DECLARE_TARGET(HWY_AVX2)
TUTTI_DECLARE_TARGET(HWY_SSE4)
TUTTI_DECLARE_TARGET(HWY_SVE2)
TUTTI_DECLARE_TARGET(HWY_SVE)
TUTTI_DECLARE_TARGET(HWY_NEON)
#undef TUTTI_DECLARE_TARGET

// Calls `visit.operator()<kTarget>()` for each target that is in this build and that this processor
// runs, best first.
void for_each_target(const auto& visit) {
  const auto visit_target = [&]<int64_t kTarget>() {
    if constexpr ((HWY_TARGETS & kTarget) != 0) {
      if (processor_runs(kTarget)) visit.template operator()<kTarget>();
    }
  };
  visit_target.template operator()<HWY_AVX3>();
  visit_target.template operator()<HWY_AVX2>();
  visit_target.template operator()<HWY_SSE4>();
  visit_target.template operator()<HWY_SVE2>();
  visit_target.template operator()<HWY_SVE>();
  visit_target.template operator()<HWY_NEON>();
}

}  // namespace tutti
