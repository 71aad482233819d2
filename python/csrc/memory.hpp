// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Tensors in memory of tutti_alloc: what the ranks of a host reduce where it lies.
#pragma once

#include <ATen/core/Tensor.h>

#include "launch.hpp"

namespace tutti_torch {

// A tensor of zeros, on the CPU. Its memory goes back when the last tensor that uses it has gone.
// Every rank of the group makes tensors of the same size, in the same order among its calls.
at::Tensor empty(const Stream& group, at::IntArrayRef sizes, at::ScalarType type);

}  // namespace tutti_torch
