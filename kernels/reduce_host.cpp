// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Chooses among the reductions of all targets.
#include "kernels/reduce_host.hpp"

#include "kernels/targets.hpp"

#include <hwy/targets.h>

#include <vector>

namespace tutti {
namespace {

struct Isa {
  std::string_view name;
  ReduceKernel (*reduce)(ReduceOp, DataType);
  ScaleKernel (*scale)(DataType);
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

// Best first; the reference ends the list.
const std::vector<Isa>& isas() {
  static const std::vector<Isa> list = [] {
    std::vector<Isa> found;
    for_each_target([&]<int64_t kTarget>() {
      found.push_back({hwy::TargetName(kTarget), vector_reduce<kTarget>, vector_scale<kTarget>});
    });
    found.push_back({"SCALAR", reduce_kernel_scalar, scale_kernel_scalar});
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
