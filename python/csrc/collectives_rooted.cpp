// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The operations that have a root. PyTorch wants blocks of one size here, which every rank knows
// from its own tensor. A rank with another size is a mismatch that all ranks are told of.
#include "checks.hpp"
#include "process_group.hpp"

namespace tutti_torch {

using c10d::OpType;

ProcessGroupTutti::WorkPtr ProcessGroupTutti::broadcast(Tensors& tensors,
                                                        const c10d::BroadcastOptions& options) {
  constexpr Kind kKind{OpType::BROADCAST, "ccl:broadcast"};
  const Tensor& tensor = only(tensors, kKind.title);
  const int root = checked_root(kKind.title, options.rootRank, size_);
  auto launch = collective(kKind, options, tensors, tensors);
  const Element element = moved_element(tensor.scalar_type());
  launch.broadcast(launch.in_out(tensor), element.count(tensor), element.type, root);
  return launch.finish(tensors);
}

// Every rank but the root keeps its tensor as it was.
ProcessGroupTutti::WorkPtr ProcessGroupTutti::reduce(Tensors& tensors,
                                                     const c10d::ReduceOptions& options) {
  constexpr Kind kKind{OpType::REDUCE, "ccl:reduce"};
  const Tensor& tensor = only(tensors, kKind.title);
  const int root = checked_root(kKind.title, options.rootRank, size_);
  auto launch = collective(kKind, options, tensors, tensors);
  const Reduction reduction = launch.reduction(options.reduceOp, tensor.scalar_type());
  void* result = rank_ == root ? launch.in_out(tensor) : nullptr;
  const void* source = rank_ == root ? result : launch.input(tensor);
  launch.reduce(source, result, reduction.element.count(tensor), reduction, root);
  return launch.finish(tensors);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::gather(TensorLists& output_lists, Tensors& inputs,
                                                     const c10d::GatherOptions& options) {
  constexpr Kind kKind{OpType::GATHER, "ccl:gather"};
  const Tensor& input = only(inputs, kKind.title);
  const int root = checked_root(kKind.title, options.rootRank, size_);
  if (rank_ == root) {
    check_root_list(kKind.title, "outputs", only(output_lists, kKind.title), input, size_);
  }
  const bool is_root = rank_ == root;
  auto launch =
      collective(kKind, options, inputs, is_root ? blocks(output_lists.front()) : Operands());
  const Element element = moved_element(input.scalar_type());
  void* memory = is_root ? launch.output(output_lists.front()) : nullptr;
  launch.gather(launch.input(input), memory, element.count(input), element.type, root);
  return launch.finish(is_root ? output_lists : TensorLists{});
}

#if TUTTI_TORCH_SINCE(14)
ProcessGroupTutti::WorkPtr ProcessGroupTutti::gather_single(Tensor& output, Tensor& input,
                                                            const c10d::GatherOptions& options) {
  constexpr Kind kKind{OpType::GATHER, "ccl:gather_single"};
  const int root = checked_root(kKind.title, options.rootRank, size_);
  const bool is_root = rank_ == root;
  if (is_root) check_blocks(kKind.title, output, input, size_);
  auto launch = collective(kKind, options, input, is_root ? Operands(output) : Operands());
  const Element element = moved_element(input.scalar_type());
  void* memory = is_root ? launch.output(output) : nullptr;
  launch.gather(launch.input(input), memory, element.count(input), element.type, root);
  return launch.finish(is_root ? Tensors{output} : Tensors{});
}
#endif

ProcessGroupTutti::WorkPtr ProcessGroupTutti::scatter(Tensors& outputs, TensorLists& input_lists,
                                                      const c10d::ScatterOptions& options) {
  constexpr Kind kKind{OpType::SCATTER, "ccl:scatter"};
  const Tensor& output = only(outputs, kKind.title);
  const int root = checked_root(kKind.title, options.rootRank, size_);
  if (rank_ == root) {
    check_root_list(kKind.title, "inputs", only(input_lists, kKind.title), output, size_);
  }
  const bool is_root = rank_ == root;
  auto launch =
      collective(kKind, options, is_root ? blocks(input_lists.front()) : Operands(), outputs);
  const Element element = moved_element(output.scalar_type());
  const void* memory = is_root ? launch.input(input_lists.front()) : nullptr;
  launch.scatter(memory, launch.output(output), element.count(output), element.type, root);
  return launch.finish(outputs);
}

}  // namespace tutti_torch
