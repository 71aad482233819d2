// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The kernels of torch.ops.tutti for tensors with data. A group is given by name, "" for the
// default one; an operation of a reduction by what operations.hpp takes.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/SymIntArrayRef.h>

#include <string_view>

namespace tutti_torch::ops {

using at::Tensor;
using std::string_view;
using SymSplits = at::OptionalSymIntArrayRef;  // rows by rank

void all_reduce_(const Tensor& input, string_view op, string_view group);
Tensor all_reduce(const Tensor& input, string_view op, string_view group);
void all_gather_into(const Tensor& output, const Tensor& input, string_view group);
Tensor all_gather(const Tensor& input, string_view group);
void reduce_scatter_into(const Tensor& output, const Tensor& input, string_view op,
                         string_view group);
Tensor reduce_scatter(const Tensor& input, string_view op, string_view group);
void all_to_all_into(const Tensor& output, const Tensor& input, SymSplits output_splits,
                     SymSplits input_splits, string_view group);
Tensor all_to_all(const Tensor& input, SymSplits output_splits, SymSplits input_splits,
                  string_view group);

}  // namespace tutti_torch::ops
