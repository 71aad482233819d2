// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// All to all. A rank knows its own blocks only. Equal ones say nothing of those that other ranks
// exchange, and one rank may leave out the splits that another spells out. So that all ranks make
// the same call whatever they are given, it is always that for blocks of any size.
#include "checks.hpp"
#include "process_group.hpp"

namespace tutti_torch {

using c10d::OpType;

ProcessGroupTutti::WorkPtr ProcessGroupTutti::alltoall(Tensors& outputs, Tensors& inputs,
                                                       const c10d::AllToAllOptions& options) {
  constexpr Kind kKind{OpType::ALLTOALL, "ccl:all_to_all"};
  TORCH_CHECK(outputs.size() == static_cast<size_t>(size_) && inputs.size() == outputs.size(),
              kKind.title, ": expected ", size_, " inputs and outputs, got ", inputs.size(),
              " inputs and ", outputs.size(), " outputs");
  for (const Tensor& input : inputs) check_types(kKind.title, outputs.front(), input);
  for (const Tensor& output : outputs) check_types(kKind.title, output, inputs.front());
  const Element element = moved_element(inputs.front().scalar_type());
  auto launch = collective(kKind, options, blocks(inputs), blocks(outputs));
  const void* source = launch.input(inputs);
  void* target = launch.output(outputs);
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
  auto launch = collective(kKind, options, input, output);
  const void* source = launch.input(input);
  void* target = launch.output(output);
  launch.alltoallv(source, sent, target, received, element.type);
  return launch.finish(output);
}

}  // namespace tutti_torch
