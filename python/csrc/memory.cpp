// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <ATen/Functions.h>
#include <ATen/ops/from_blob.h>

namespace tutti_torch {

at::Tensor empty(const Stream& group, at::IntArrayRef sizes, at::ScalarType type) {
  const auto options = at::TensorOptions().dtype(type);
  int64_t elements = 1;
  for (const int64_t size : sizes) {
    TORCH_CHECK_VALUE(size >= 0, "tutti: empty: a size is ", size, ", expected 0 or more");
    TORCH_CHECK_VALUE(!__builtin_mul_overflow(elements, size, &elements),
                      "tutti: empty: a tensor of sizes ", sizes, " fits into no memory");
  }
  if (elements == 0) return at::empty(sizes, options);
  const std::shared_ptr<Communicator> owner = group.communicator;
  int64_t bytes = 0;
  TORCH_CHECK_VALUE(
      !__builtin_mul_overflow(elements, static_cast<int64_t>(c10::elementSize(type)), &bytes),
      "tutti: empty: a tensor of sizes ", sizes, " fits into no memory");
  void* const memory = owner->allocate(static_cast<size_t>(bytes));
  return at::from_blob(
      memory, sizes, [owner](void* ended) { owner->give_back(ended); }, options);
}

}  // namespace tutti_torch
