// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Checks of the tensors of a call, as far as one rank can see faults; `title` names the call in the
// texts. The library finds the faults that only the ranks together can see.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <vector>

#include "convert.hpp"

namespace tutti_torch {

using TensorList = std::vector<at::Tensor>;

// The only element of a list, as PyTorch's interface has it.
template <typename T>
T& only(std::vector<T>& list, const char* title) {
  TORCH_CHECK(list.size() == 1, title, ": expected 1 tensor or list of tensors, got ", list.size());
  return list.front();
}

void check_types(const char* title, const at::Tensor& a, const at::Tensor& b);
// One tensor is `ranks` times as large as the other.
void check_blocks(const char* title, const at::Tensor& whole, const at::Tensor& block, int ranks);
// There is one block for each rank, that of this rank as large as its own tensor.
void check_list(const char* title, const TensorList& blocks, const at::Tensor& own, int ranks,
                int rank);
// There is one list for each rank, of `tensors` tensors each.
void check_lists(const char* title, const std::vector<TensorList>& lists, int ranks,
                 size_t tensors);
// Checks like check_list the blocks at a root, all of one size; `what` they are: "outputs" or
// "inputs".
void check_root_list(const char* title, const char* what, const TensorList& blocks,
                     const at::Tensor& own, int ranks);
void check_pairs(const char* title, const TensorList& outputs, const TensorList& inputs);
bool equal_sizes(const TensorList& tensors);
int checked_root(const char* title, int64_t root, int ranks);

// The blocks of a tensor: `splits` rows of its first dimension, equally many if empty.
Counts counts_of_rows(const char* title, const at::Tensor& tensor, at::IntArrayRef splits,
                      int ranks, const Element& element);

// No two elements that are written have one place in memory, as those of an expanded tensor do, or
// those of two outputs that overlap. The library sees the same of dense memory; this is for tensors
// that are written by copies.
void check_places(const char* title, const at::Tensor& output);
void check_places(const char* title, const TensorList& outputs);

}  // namespace tutti_torch
