// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Reductions on devices. reduce.cl is compiled into one module for each type and variant: as SPIR-V
// if the build has a compiler for that, and as source. All give the bits of the host's kernels
// (kernels/reduce_host.hpp).
//
// The kernels of a module, by device_kernel_name():
//   sum, prod, vmin, vmax, avg, and of integers band, bor, bxor, have these 12 arguments:
//     0 dst, 1..8 sources (device pointers; those past k are not read; OpenCL wants valid ones
//     there, such as the first again), 9 k (uint, 1..8), 10 count (ulong), 11 divisor (uint; of
//     avg, >= 1)
//   sum_begins, sum_goes_on, sum_ends, avg_ends, prod_begins, prod_goes_on, prod_ends, of floats of
//     16 and 8 bits, kScalar: the same, but that what passes from one to the next (DevicePass), dst
//     or source 0, is of 32-bit floats
//   scale: 0 dst, 1 source, 2 count (ulong), 3 scalar (ulong, whose first bytes are the element)
// One dimension; at least device_work_items() work-items, of which those past the end do nothing.
// Groups are of any size but in kBlock, where it is a multiple of 16. A module of float64 needs
// doubles on the device; no other does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/types.hpp"

namespace tutti {

// The sources of a kernel, arguments 1 to 8 in reduce.cl.
inline constexpr uint32_t kDeviceKernelSources = 8;

enum class DeviceVariant : uint8_t {
  kScalar,  // an element per work-item, at any address
  kVector,  // 16 bytes per work-item: dst and all sources are aligned to 16 bytes
  kBlock,   // kVector with block reads of sub-groups of 16 (cl_intel_subgroups)
};
constexpr int kDeviceVariants = 3;
// The alignment of dst and sources.
constexpr size_t device_alignment(DeviceVariant variant) {
  return variant == DeviceVariant::kScalar ? 1 : 16;
}
// The variant, kScalar or kVector, for pointers whose addresses, or-ed together, are these.
constexpr DeviceVariant device_variant_for(uintptr_t addresses) {
  return addresses % device_alignment(DeviceVariant::kVector) == 0 ? DeviceVariant::kVector
                                                                   : DeviceVariant::kScalar;
}

// The passes of a reduction with more sources than a kernel takes. Several kernels then run one
// after the other: one begins, others go on with its result and some more sources, and one ends.
enum class DevicePass : uint8_t { kWhole, kBegins, kGoesOn, kEnds };
// Whether 32-bit floats go from pass to pass, as those of the type would be rounded each time.
// Kernels of such passes exist in kScalar alone.
bool device_passes_floats(ReduceOp op, DataType type);

// OpenCL C 1.2, and what the compiler needs for a module of it.
std::string_view device_source();
std::string device_options(DataType type, DeviceVariant variant);
// SPIR-V of at most version 1.2; empty where the build had no compiler for it.
std::span<const uint8_t> device_spirv(DataType type, DeviceVariant variant);
// kPremulSum is kSum; null for an operation that the type does not have, or kUser. Complex numbers
// have no modules: sums and averages of theirs are those of their parts.
const char* device_kernel_name(ReduceOp op, DataType type, DevicePass pass = DevicePass::kWhole);
inline constexpr const char* kDeviceScaleKernel = "scale";
uint64_t device_work_items(DataType type, DeviceVariant variant, uint64_t count);

}  // namespace tutti
