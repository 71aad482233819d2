// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The operations in which all ranks have the same part and know all sizes: one collective of the
// library, or one per tensor.
#include "checks.hpp"
#include "process_group.hpp"

namespace tutti_torch {
using c10d::OpType;

namespace {

using at::Tensor;

constexpr const char* kAllgatherTitle = "ccl:all_gather_into_tensor";
constexpr const char* kReduceScatterTitle = "ccl:reduce_scatter_tensor";

// Calls with arguments that are checked, all of an operation before the first is made.

// `outputs` are by rank.
void allgather_list(Launch& launch, const TensorList& outputs, const Tensor& input) {
  const Element element = moved_element(input.scalar_type());
  const void* source = launch.input(input);
  void* memory = launch.output(outputs);
  // The sizes in the list are those of the ranks, so all ranks decide alike.
  if (equal_sizes(outputs)) {
    launch.allgather(source, memory, element.count(input), element.type);
  } else {
    launch.allgatherv(source, memory, element.counts(outputs), element.type);
  }
}

void allgather_into(Launch& launch, const Tensor& output, const Tensor& input) {
  const Element element = moved_element(input.scalar_type());
  void* memory = launch.output(output);
  launch.allgather(launch.input(input), memory, element.count(input), element.type);
}

void reduce_scatter_into(Launch& launch, const Tensor& output, const Tensor& input,
                         const c10d::ReduceOp& op) {
  const Reduction reduction = launch.reduction(op, output.scalar_type());
  void* result = launch.output(output);
  launch.reduce_scatter(launch.input(input), result, reduction.element.count(output), reduction);
}

}  // namespace

ProcessGroupTutti::WorkPtr ProcessGroupTutti::allreduce(Tensors& tensors,
                                                        const c10d::AllreduceOptions& options) {
  constexpr Kind kKind{OpType::ALLREDUCE, "ccl:all_reduce"};
  const Tensor& tensor = only(tensors, kKind.title);
  if (tensor.is_sparse()) return allreduce_sparse(tensors, options);
  auto launch = collective(kKind, options, tensors, tensors);
  const Reduction reduction = launch.reduction(options.reduceOp, tensor.scalar_type());
  void* memory = launch.in_out(tensor);
  launch.allreduce(memory, memory, reduction.element.count(tensor), reduction);
  return launch.finish(tensors);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::allreduce_coalesced(
    Tensors& tensors, const c10d::AllreduceCoalescedOptions& options) {
  constexpr Kind kKind{OpType::ALLREDUCE_COALESCED, "ccl:all_reduce_coalesced"};
  auto launch = collective(kKind, options, tensors, tensors);
  for (const Tensor& tensor : tensors) {
    const Reduction reduction = launch.reduction(options.reduceOp, tensor.scalar_type());
    void* memory = launch.in_out(tensor);
    launch.allreduce(memory, memory, reduction.element.count(tensor), reduction);
  }
  return launch.finish(tensors);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::allgather(TensorLists& output_lists, Tensors& inputs,
                                                        const c10d::AllgatherOptions& options) {
  constexpr Kind kKind{OpType::ALLGATHER, "ccl:all_gather"};
  const Tensors& outputs = only(output_lists, kKind.title);
  const Tensor& input = only(inputs, kKind.title);
  check_list(kKind.title, outputs, input, size_, rank_);
  auto launch = collective(kKind, options, inputs, blocks(outputs));
  allgather_list(launch, outputs, input);
  return launch.finish(output_lists);
}

// PyTorch deprecates it, but Gloo has it. Its lists are by rank and then by tensor.
ProcessGroupTutti::WorkPtr ProcessGroupTutti::allgather_coalesced(
    TensorLists& output_lists, Tensors& inputs, const c10d::AllgatherOptions& options) {
  constexpr Kind kKind{OpType::ALLGATHER_COALESCED, "ccl:all_gather_coalesced"};
  check_lists(kKind.title, output_lists, size_, inputs.size());
  TensorLists outputs(inputs.size());  // by tensor and then by rank
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (const Tensors& of_rank : output_lists) outputs[i].push_back(of_rank[i]);
    check_list(kKind.title, outputs[i], inputs[i], size_, rank_);
  }
  auto launch =
      collective(kKind, options, inputs, outputs.empty() ? Operands() : blocks(outputs.front()));
  for (size_t i = 0; i < inputs.size(); ++i) allgather_list(launch, outputs[i], inputs[i]);
  return launch.finish(output_lists);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::_allgather_base(
    Tensor& output, Tensor& input, const c10d::AllgatherOptions& options) {
  check_blocks(kAllgatherTitle, output, input, size_);
  auto launch = collective({OpType::_ALLGATHER_BASE, kAllgatherTitle}, options, input, output);
  allgather_into(launch, output, input);
  return launch.finish(output);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::allgather_into_tensor_coalesced(
    Tensors& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) {
  constexpr Kind kKind{OpType::ALLGATHER_COALESCED, "ccl:all_gather_into_tensor_coalesced"};
  check_pairs(kKind.title, outputs, inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    check_blocks(kAllgatherTitle, outputs[i], inputs[i], size_);
  }
  auto launch = collective(kKind, options, inputs, outputs);
  for (size_t i = 0; i < inputs.size(); ++i) allgather_into(launch, outputs[i], inputs[i]);
  return launch.finish(outputs);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::reduce_scatter(
    Tensors& outputs, TensorLists& input_lists, const c10d::ReduceScatterOptions& options) {
  constexpr Kind kKind{OpType::REDUCE_SCATTER, "ccl:reduce_scatter"};
  const Tensor& output = only(outputs, kKind.title);
  const Tensors& inputs = only(input_lists, kKind.title);
  check_list(kKind.title, inputs, output, size_, rank_);
  auto launch = collective(kKind, options, blocks(inputs), outputs);
  const Reduction reduction = launch.reduction(options.reduceOp, output.scalar_type());
  void* result = launch.output(output);
  const void* memory = launch.input(inputs);
  if (equal_sizes(inputs)) {
    launch.reduce_scatter(memory, result, reduction.element.count(output), reduction);
  } else {
    launch.reduce_scatterv(memory, result, reduction.element.counts(inputs), reduction);
  }
  return launch.finish(outputs);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::_reduce_scatter_base(
    Tensor& output, Tensor& input, const c10d::ReduceScatterOptions& options) {
  check_blocks(kReduceScatterTitle, input, output, size_);
  constexpr Kind kKind{OpType::_REDUCE_SCATTER_BASE, kReduceScatterTitle};
  auto launch = collective(kKind, options, input, output);
  reduce_scatter_into(launch, output, input, options.reduceOp);
  return launch.finish(output);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::reduce_scatter_tensor_coalesced(
    Tensors& outputs, Tensors& inputs, const c10d::ReduceScatterOptions& options) {
  constexpr Kind kKind{OpType::REDUCE_SCATTER_TENSOR_COALESCED,
                       "ccl:reduce_scatter_tensor_coalesced"};
  check_pairs(kKind.title, outputs, inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    check_blocks(kReduceScatterTitle, inputs[i], outputs[i], size_);
  }
  auto launch = collective(kKind, options, inputs, outputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    reduce_scatter_into(launch, outputs[i], inputs[i], options.reduceOp);
  }
  return launch.finish(outputs);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::barrier(const c10d::BarrierOptions& options) {
  auto launch = collective({OpType::BARRIER, "ccl:barrier"}, options, Tensors{}, Tensors{});
  launch.barrier();
  return launch.finish(at::ArrayRef<Tensor>{});
}

}  // namespace tutti_torch
