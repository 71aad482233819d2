// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// All to all. A rank knows its own blocks only: that they are equal says nothing of those which
// other ranks exchange, and one rank may leave out the splits that another spells out. So that all
// ranks make the same call whatever they are given, it is always that for blocks of any size.
#include <numeric>

#include "checks.hpp"
#include "process_group.hpp"

namespace tutti_torch {
namespace {

using c10d::OpType;

// The blocks of a tensor: `splits` rows of its first dimension, equally many if empty.
Counts counts_of_rows(const char* title, const at::Tensor& tensor,
                      const std::vector<int64_t>& splits, int ranks, const Element& element) {
  const int64_t rows = tensor.dim() == 0 ? 1 : tensor.size(0);
  const size_t per_row = rows == 0 ? 0 : element.count(tensor) / static_cast<size_t>(rows);
  if (splits.empty()) {
    TORCH_CHECK(rows % ranks == 0, title, ": a tensor with ", rows,
                " rows cannot be split equally among ", ranks, " ranks");
    return Counts(static_cast<size_t>(ranks), static_cast<size_t>(rows / ranks) * per_row);
  }
  TORCH_CHECK(splits.size() == static_cast<size_t>(ranks), title, ": got ", splits.size(),
              " split sizes for ", ranks, " ranks");
  const int64_t sum = std::accumulate(splits.begin(), splits.end(), int64_t{0});
  TORCH_CHECK(sum == rows, title, ": split sizes sum to ", sum, ", the tensor has ", rows, " rows");
  Counts counts;
  for (const int64_t split : splits) {
    TORCH_CHECK(split >= 0, title, ": a split size is ", split, ", expected 0 or more");
    counts.push_back(static_cast<size_t>(split) * per_row);
  }
  return counts;
}

// What comes would overwrite what is yet to be sent.
void check_apart(const char* title, const void* source, const void* target) {
  TORCH_CHECK(source == nullptr || source != target, title,
              ": the input and the output are the same memory; expected different tensors");
}

}  // namespace

ProcessGroupTutti::WorkPtr ProcessGroupTutti::alltoall(Tensors& outputs, Tensors& inputs,
                                                       const c10d::AllToAllOptions& options) {
  constexpr Kind kKind{OpType::ALLTOALL, "ccl:all_to_all"};
  TORCH_CHECK(outputs.size() == static_cast<size_t>(size_) && inputs.size() == outputs.size(),
              kKind.title, ": expected ", size_, " inputs and outputs, got ", inputs.size(),
              " inputs and ", outputs.size(), " outputs");
  for (const Tensor& input : inputs) check_types(kKind.title, outputs.front(), input);
  for (const Tensor& output : outputs) check_types(kKind.title, output, inputs.front());
  const Element element = moved_element(inputs.front().scalar_type());
  Launch launch = collective(kKind, options, inputs);
  const void* source = launch.input(inputs);
  void* target = launch.output(outputs);
  check_apart(kKind.title, source, target);
  launch.alltoallv(source, element.counts(inputs), target, element.counts(outputs), element.type);
  return launch.finish(outputs);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::alltoall_base(Tensor& output, Tensor& input,
                                                            std::vector<int64_t>& output_splits,
                                                            std::vector<int64_t>& input_splits,
                                                            const c10d::AllToAllOptions& options) {
  constexpr Kind kKind{OpType::ALLTOALL_BASE, "ccl:all_to_all"};
  check_types(kKind.title, output, input);
  const Element element = moved_element(input.scalar_type());
  const Counts received = counts_of_rows(kKind.title, output, output_splits, size_, element);
  const Counts sent = counts_of_rows(kKind.title, input, input_splits, size_, element);
  Launch launch = collective(kKind, options, {input});
  const void* source = launch.input(input);
  void* target = launch.output(output);
  check_apart(kKind.title, source, target);
  launch.alltoallv(source, sent, target, received, element.type);
  return launch.finish(Tensors{output});
}

}  // namespace tutti_torch
