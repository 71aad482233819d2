// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Chooses among the kernels of all targets.
#include "kernels/reduce_host.hpp"

#include "core/tuned.hpp"
#include "kernels/processor.hpp"
#include "kernels/string_copy.hpp"
#include "kernels/targets.hpp"

#include <hwy/targets.h>

#include <cstring>
#include <vector>

namespace tutti {
namespace {

struct Isa {
  std::string_view name;
  ReduceKernel (*reduce)(ReduceOp, DataType);
  ScaleKernel (*scale)(DataType);
  CopyKernel backward_copy;
  CopyKernel stream_copy;
  TwinCopyKernel twin_copy;
};

template <int64_t kTarget>
ReduceKernel vector_reduce(ReduceOp op, DataType type) {
  if (is_integer(type)) return integer_reduce<kTarget>(op, type);
  if (is_complex(type)) return complex_reduce<kTarget>(op, type);
  return type_size(type) < 4 ? small_float_reduce<kTarget>(op, type)
                             : float_reduce<kTarget>(op, type);
}

template <int64_t kTarget>
ScaleKernel vector_scale(DataType type) {
  if (is_integer(type)) return integer_scale<kTarget>(type);
  if (is_complex(type)) return complex_scale<kTarget>(type);
  return type_size(type) < 4 ? small_float_scale<kTarget>(type) : float_scale<kTarget>(type);
}

// Strings begin where they pay, and end where caches may not hold what they write.
bool by_strings(size_t bytes) {
  return tuned::kLeastStringCopy <= bytes && bytes <= tuned::kMostStringCopy && string_copies_pay();
}

void plain_copy(void* dst, const void* source, size_t bytes) { std::memcpy(dst, source, bytes); }

void plain_copies(void* dst, bool, void* other, bool, const void* source, size_t bytes) {
  std::memmove(dst, source, bytes);
  std::memmove(other, dst, bytes);
}

// Adds the target if it is in this build and this processor runs it.
template <int64_t kTarget>
void add_target(std::vector<Isa>& isas) {
  if constexpr ((HWY_TARGETS & kTarget) != 0) {
    if (!processor_runs(kTarget)) return;
    isas.push_back({hwy::TargetName(kTarget), vector_reduce<kTarget>, vector_scale<kTarget>,
                    backward_copy<kTarget>, stream_copy<kTarget>, twin_copy<kTarget>});
  }
}

// Best first; the reference ends the list.
const std::vector<Isa>& isas() {
  static const std::vector<Isa> list = [] {
    std::vector<Isa> found;
    add_target<HWY_AVX3>(found);
    add_target<HWY_AVX2>(found);
    add_target<HWY_SSE4>(found);
    add_target<HWY_SVE2>(found);
    add_target<HWY_SVE>(found);
    add_target<HWY_NEON>(found);
    found.push_back({"SCALAR", reduce_kernel_scalar, scale_kernel_scalar, plain_copy, plain_copy,
                     plain_copies});
    return found;
  }();
  return list;
}

const Isa* find_isa(std::string_view name) {
  for (const Isa& isa : isas()) {
    if (isa.name == name) return &isa;
  }
  return nullptr;
}

}  // namespace

ReduceKernel reduce_kernel(ReduceOp op, DataType type) { return isas().front().reduce(op, type); }

ScaleKernel scale_kernel(DataType type) { return isas().front().scale(type); }

void copy_long(void* dst, const void* source, size_t bytes, CopyHint hint) {
  if (bytes == 0) return;  // the pointers may be null
  if (hint == CopyHint::kNonTemporal) {
    isas().front().stream_copy(dst, source, bytes);
  } else if (by_strings(bytes)) {
    string_copy(dst, source, bytes);
  } else {
    copy_by_vectors(dst, source, bytes);
  }
}

void copy_twice(void* dst, CopyHint hint, void* other, CopyHint other_hint, const void* source,
                size_t bytes) {
  const bool stream = hint == CopyHint::kNonTemporal;
  const bool stream_other = other_hint == CopyHint::kNonTemporal;
  if (bytes < kLeastLongCopy || (!stream && !stream_other && by_strings(bytes))) {
    copy_bytes(dst, source, bytes, hint);
    copy_bytes(other, source, bytes, other_hint);
  } else {
    isas().front().twin_copy(dst, stream, other, stream_other, source, bytes);
  }
}

void copy_by_vectors(void* dst, const void* source, size_t bytes) {
  isas().front().backward_copy(dst, source, bytes);
}

std::string_view kernel_isa() { return isas().front().name; }

std::span<const std::string_view> kernel_isas() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> list;
    for (const Isa& isa : isas()) list.push_back(isa.name);
    return list;
  }();
  return names;
}

ReduceKernel reduce_kernel_for(std::string_view isa, ReduceOp op, DataType type) {
  const Isa* found = find_isa(isa);
  return found != nullptr ? found->reduce(op, type) : nullptr;
}

ScaleKernel scale_kernel_for(std::string_view isa, DataType type) {
  const Isa* found = find_isa(isa);
  return found != nullptr ? found->scale(type) : nullptr;
}

}  // namespace tutti
