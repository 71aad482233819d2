// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Operations on tensors that block until they are done, for callers outside c10d: torch.ops.tutti
// (ops.cpp), and the same functions without PyTorch's dispatcher (direct.cpp).
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string_view>

#include "launch.hpp"

namespace tutti_torch::operations {

using Splits = std::optional<at::IntArrayRef>;  // rows by rank; none: equally many

// `op` is a name in lower or upper case: sum, avg, product, min, max, band, bor, bxor.
// Reduces `input` into `output`, which may be the same tensor.
void all_reduce(const Stream& group, const at::Tensor& output, const at::Tensor& input,
                std::string_view op);
// The ranks' inputs one after the other.
void all_gather(const Stream& group, const at::Tensor& output, const at::Tensor& input);
// This rank's block of the reduced input.
void reduce_scatter(const Stream& group, const at::Tensor& output, const at::Tensor& input,
                    std::string_view op);
void all_to_all(const Stream& group, const at::Tensor& output, const at::Tensor& input,
                Splits output_splits, Splits input_splits);

}  // namespace tutti_torch::operations
