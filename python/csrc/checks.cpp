// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "checks.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace tutti_torch {

void check_types(const char* title, const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK(a.scalar_type() == b.scalar_type(), title, ": the input is ", b.scalar_type(),
              ", the output ", a.scalar_type(), "; expected the same type");
}

void check_blocks(const char* title, const at::Tensor& whole, const at::Tensor& block, int ranks) {
  TORCH_CHECK(whole.numel() == block.numel() * ranks, title, ": expected ", ranks, " blocks of ",
              block.numel(), " elements, got a tensor of ", whole.numel());
  check_types(title, whole, block);
}

void check_list(const char* title, const TensorList& blocks, const at::Tensor& own, int ranks,
                int rank) {
  TORCH_CHECK(blocks.size() == static_cast<size_t>(ranks), title,
              ": expected one tensor for each of ", ranks, " ranks, got ", blocks.size());
  for (const at::Tensor& block : blocks) check_types(title, block, own);
  const int64_t expected = blocks[static_cast<size_t>(rank)].numel();
  TORCH_CHECK(own.numel() == expected, title, ": the tensor of this rank, ", rank, ", has ",
              own.numel(), " elements, its place in the list ", expected);
}

void check_lists(const char* title, const std::vector<TensorList>& lists, int ranks,
                 size_t tensors) {
  TORCH_CHECK(lists.size() == static_cast<size_t>(ranks), title,
              ": expected one list of tensors for each of ", ranks, " ranks, got ", lists.size());
  for (size_t rank = 0; rank < lists.size(); ++rank) {
    TORCH_CHECK(lists[rank].size() == tensors, title, ": got ", tensors, " inputs, and ",
                lists[rank].size(), " outputs for rank ", rank, "; expected as many of both");
  }
}

void check_root_list(const char* title, const char* what, const TensorList& blocks,
                     const at::Tensor& own, int ranks) {
  TORCH_CHECK(blocks.size() == static_cast<size_t>(ranks), title, ": the root gave ", blocks.size(),
              " ", what, " for ", ranks, " ranks");
  for (size_t rank = 0; rank < blocks.size(); ++rank) {
    const at::Tensor& block = blocks[rank];
    TORCH_CHECK(block.numel() == own.numel(), title, ": of the ", what, " that of rank ", rank,
                " has ", block.numel(), " elements, the root's own tensor ", own.numel(),
                "; expected equal sizes");
    TORCH_CHECK(block.scalar_type() == own.scalar_type(), title, ": of the ", what,
                " that of rank ", rank, " is ", block.scalar_type(), ", the root's own tensor ",
                own.scalar_type(), "; expected the same type");
  }
}

void check_pairs(const char* title, const TensorList& outputs, const TensorList& inputs) {
  TORCH_CHECK(outputs.size() == inputs.size(), title, ": got ", inputs.size(), " inputs and ",
              outputs.size(), " outputs; expected as many of both");
}

bool equal_sizes(const TensorList& tensors) {
  return std::all_of(tensors.begin(), tensors.end(), [&](const at::Tensor& tensor) {
    return tensor.numel() == tensors.front().numel();
  });
}

int checked_root(const char* title, int64_t root, int ranks) {
  TORCH_CHECK(root >= 0 && root < ranks, title, ": root is ", root, ", expected 0 to ", ranks - 1);
  return static_cast<int>(root);
}

Counts counts_of_rows(const char* title, const at::Tensor& tensor, at::IntArrayRef splits,
                      int ranks, const Element& element) {
  const int64_t rows = tensor.dim() == 0 ? 1 : tensor.size(0);
  const size_t per_row = rows == 0 ? 0 : element.count(tensor) / static_cast<size_t>(rows);
  if (splits.empty()) {
    TORCH_CHECK(rows % ranks == 0, title, ": a tensor with ", rows,
                " rows cannot be split equally among ", ranks, " ranks");
    return Counts(static_cast<size_t>(ranks), static_cast<size_t>(rows / ranks) * per_row);
  }
  TORCH_CHECK(splits.size() == static_cast<size_t>(ranks), title, ": got ", splits.size(),
              " split sizes for ", ranks, " ranks");
  int64_t sum = 0;
  bool fits = true;
  for (const int64_t split : splits) {
    TORCH_CHECK(split >= 0, title, ": a split size is ", split, ", expected 0 or more");
    fits = fits && !__builtin_add_overflow(sum, split, &sum);
  }
  TORCH_CHECK(fits, title, ": split sizes sum to more than ", std::numeric_limits<int64_t>::max(),
              ", the tensor has ", rows, " rows");
  TORCH_CHECK(sum == rows, title, ": split sizes sum to ", sum, ", the tensor has ", rows, " rows");
  Counts counts;
  for (const int64_t split : splits) counts.push_back(static_cast<size_t>(split) * per_row);
  return counts;
}

namespace {

// The place of each element, from the first.
std::vector<int64_t> places_of(const at::Tensor& tensor) {
  std::vector<int64_t> places = {0};
  places.reserve(static_cast<size_t>(tensor.numel()));
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    const size_t known = places.size();
    for (int64_t i = 1; i < tensor.size(dim); ++i) {
      for (size_t k = 0; k < known; ++k) places.push_back(places[k] + i * tensor.stride(dim));
    }
  }
  return places;
}

bool overlaps_itself(const at::Tensor& tensor) {
  if (tensor.numel() < 2) return false;
  std::vector<std::pair<int64_t, int64_t>> dims;  // stride and size
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    if (tensor.size(dim) > 1) dims.emplace_back(tensor.stride(dim), tensor.size(dim));
  }
  std::sort(dims.begin(), dims.end());
  if (dims.front().first == 0) return true;
  // Mostly each dimension steps over all that those of smaller strides reach.
  int64_t reached = 0;
  bool steps_over = true;
  for (const auto& [stride, size] : dims) {
    steps_over = steps_over && stride > reached;
    reached += stride * (size - 1);
  }
  if (steps_over) return false;
  std::vector<int64_t> places = places_of(tensor);
  std::sort(places.begin(), places.end());
  return std::adjacent_find(places.begin(), places.end()) != places.end();
}

}  // namespace

void check_places(const char* title, const at::Tensor& output) {
  TORCH_CHECK(!overlaps_itself(output), title, ": elements of the output, of sizes ",
              output.sizes(), " and strides ", output.strides(),
              ", lie in one place; expected a tensor with memory for each element (clone it)");
}

void check_places(const char* title, const TensorList& outputs) {
  std::vector<std::pair<uintptr_t, size_t>> dense;  // where, and which
  for (size_t i = 0; i < outputs.size(); ++i) {
    const at::Tensor& output = outputs[i];
    check_places(title, output);
    if (output.numel() == 0 || !output.is_contiguous()) continue;
    dense.emplace_back(reinterpret_cast<uintptr_t>(output.const_data_ptr()), i);
  }
  std::sort(dense.begin(), dense.end());
  for (size_t k = 1; k < dense.size(); ++k) {
    const auto& [before, first] = dense[k - 1];
    const auto& [after, second] = dense[k];
    TORCH_CHECK(before + outputs[first].nbytes() <= after, title, ": outputs ", first, " (",
                outputs[first].nbytes(), " B at ", reinterpret_cast<void*>(before), ") and ",
                second, " (", outputs[second].nbytes(), " B at ", reinterpret_cast<void*>(after),
                ") overlap; expected tensors with memory of their own");
  }
}

}  // namespace tutti_torch
