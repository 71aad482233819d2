// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on the host: elementwise reductions of k sources with one write, vectorised, the
// instruction set chosen at run time.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "core/types.hpp"

namespace tutti {

struct ReduceOptions {
  // Non-zero: the reduction ends here, and avg divides the sum by it.
  uint32_t divisor = 0;
  // Write dst with non-temporal stores (ends with a store fence). If dst's alignment does not allow
  // them, ordinary stores.
  bool non_temporal = false;
  // Unless null: write the results here as well, in the same pass; past the caches or not. If it is
  // not aligned as dst is, with ordinary stores.
  void* copy = nullptr;
  bool copy_non_temporal = false;
};

// dst[i] = sources[0][i] op sources[1][i] op ... in that order, i < count; k >= 1. Both dst and
// options.copy may be equal to one of the sources, but not overlap one otherwise, nor each other.
// No pointer needs alignment. Floats of 16 and 8 bits are accumulated in binary32 and rounded once
// to nearest even. Values beyond their range become infinity, or NaN in e4m3, which has none.
// Integers wrap. NaN results: the default quiet NaN, positive. Denormals are kept. Each part of a
// complex number follows these rules; products are as in tutti.h. The bits are the same on every
// instruction set.
using ReduceKernel = void (*)(void* dst, const void* const* sources, size_t k, size_t count,
                              const ReduceOptions& options);

// The fastest kernel on this processor; nullptr if op is not for this type, or is kUser.
// kPremulSum is kSum here: its multiplication is scale_kernel().
ReduceKernel reduce_kernel(ReduceOp op, DataType type);
// The reference: plain loops, one element at a time.
ReduceKernel reduce_kernel_scalar(ReduceOp op, DataType type);

// dst[i] = source[i] * *scalar, rounded once (binary32 arithmetic for small floats; integers wrap).
using ScaleKernel = void (*)(void* dst, const void* source, const void* scalar, size_t count);
ScaleKernel scale_kernel(DataType type);
ScaleKernel scale_kernel_scalar(DataType type);

// The instruction set in use ("AVX3", "AVX2", ...), and all that this build has and this processor
// runs.
std::string_view kernel_isa();
std::span<const std::string_view> kernel_isas();
// For tests: the same kernels compiled for another of kernel_isas().
ReduceKernel reduce_kernel_for(std::string_view isa, ReduceOp op, DataType type);
ScaleKernel scale_kernel_for(std::string_view isa, DataType type);

}  // namespace tutti
