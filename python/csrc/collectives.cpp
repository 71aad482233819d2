// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The operations that are one collective of the library, or one per tensor.
#include <algorithm>

#include "process_group.hpp"

namespace tutti_torch {
namespace {

using c10d::OpType;
using Tensors = ProcessGroupTutti::Tensors;

void check_types(const char* title, const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK(a.scalar_type() == b.scalar_type(), title, ": the input is ", b.scalar_type(),
              ", the output ", a.scalar_type(), "; expected the same type");
}

// One tensor is `ranks` times as large as the other.
void check_blocks(const char* title, const at::Tensor& whole, const at::Tensor& block, int ranks) {
  TORCH_CHECK(whole.numel() == block.numel() * ranks, title, ": expected ", ranks, " blocks of ",
              block.numel(), " elements, got a tensor of ", whole.numel());
  check_types(title, whole, block);
}

void check_list(const char* title, const Tensors& blocks, const at::Tensor& own, int ranks,
                int rank) {
  TORCH_CHECK(blocks.size() == static_cast<size_t>(ranks), title,
              ": expected one tensor for each of ", ranks, " ranks, got ", blocks.size());
  for (const at::Tensor& block : blocks) check_types(title, block, own);
  const int64_t expected = blocks[static_cast<size_t>(rank)].numel();
  TORCH_CHECK(own.numel() == expected, title, ": the tensor of this rank, ", rank, ", has ",
              own.numel(), " elements, its place in the list ", expected);
}

bool equal_sizes(const Tensors& tensors) {
  return std::all_of(tensors.begin(), tensors.end(), [&](const at::Tensor& tensor) {
    return tensor.numel() == tensors.front().numel();
  });
}

void check_pairs(const char* title, const Tensors& outputs, const Tensors& inputs) {
  TORCH_CHECK(outputs.size() == inputs.size(), title, ": got ", inputs.size(), " inputs and ",
              outputs.size(), " outputs; expected as many of both");
}

}  // namespace

ProcessGroupTutti::WorkPtr ProcessGroupTutti::allreduce(Tensors& tensors,
                                                        const c10d::AllreduceOptions& options) {
  constexpr Kind kKind{OpType::ALLREDUCE, "ccl:all_reduce"};
  const Tensor& tensor = only(tensors, kKind.title);
  Launch launch = collective(kKind, options, tensors);
  const Reduction reduction = launch.reduction(options.reduceOp, tensor.scalar_type());
  void* memory = launch.in_out(tensor);
  launch.allreduce(memory, memory, reduction.element.count(tensor), reduction);
  return launch.finish(tensors);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::allreduce_coalesced(
    Tensors& tensors, const c10d::AllreduceCoalescedOptions& options) {
  Launch launch =
      collective({OpType::ALLREDUCE_COALESCED, "ccl:all_reduce_coalesced"}, options, tensors);
  for (const Tensor& tensor : tensors) {
    const Reduction reduction = launch.reduction(options.reduceOp, tensor.scalar_type());
    void* memory = launch.in_out(tensor);
    launch.allreduce(memory, memory, reduction.element.count(tensor), reduction);
  }
  return launch.finish(tensors);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::broadcast(Tensors& tensors,
                                                        const c10d::BroadcastOptions& options) {
  constexpr Kind kKind{OpType::BROADCAST, "ccl:broadcast"};
  const Tensor& tensor = only(tensors, kKind.title);
  Launch launch = collective(kKind, options, tensors);
  const Element element = moved_element(tensor.scalar_type());
  launch.broadcast(launch.in_out(tensor), element.count(tensor), element.type,
                   static_cast<int>(options.rootRank));
  return launch.finish(tensors);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::allgather(TensorLists& output_lists, Tensors& inputs,
                                                        const c10d::AllgatherOptions& options) {
  constexpr Kind kKind{OpType::ALLGATHER, "ccl:all_gather"};
  const Tensors& outputs = only(output_lists, kKind.title);
  const Tensor& input = only(inputs, kKind.title);
  check_list(kKind.title, outputs, input, size_, rank_);
  Launch launch = collective(kKind, options, inputs);
  if (!equal_sizes(outputs)) {
    allgather_uneven(launch, outputs, input);
    return launch.finish(output_lists);
  }
  const Element element = moved_element(input.scalar_type());
  void* memory = launch.joined(outputs);
  if (memory == nullptr) {
    const Tensor all = launch.scratch(input.numel() * size_, input.scalar_type());
    memory = all.data_ptr();
    for (int64_t rank = 0; rank < size_; ++rank) {
      const Tensor& output = outputs[static_cast<size_t>(rank)];
      launch.copy_at_end(output,
                         all.narrow(0, rank * input.numel(), input.numel()).view(output.sizes()));
    }
  }
  launch.allgather(launch.input(input), memory, element.count(input), element.type);
  return launch.finish(output_lists);
}

void ProcessGroupTutti::allgather_into(Launch& launch, const Tensor& output, const Tensor& input) {
  check_blocks("ccl:all_gather_into_tensor", output, input, size_);
  const Element element = moved_element(input.scalar_type());
  void* memory = launch.output(output);
  launch.allgather(launch.input(input), memory, element.count(input), element.type);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::_allgather_base(
    Tensor& output, Tensor& input, const c10d::AllgatherOptions& options) {
  Launch launch =
      collective({OpType::_ALLGATHER_BASE, "ccl:all_gather_into_tensor"}, options, {input});
  allgather_into(launch, output, input);
  return launch.finish(Tensors{output});
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::allgather_into_tensor_coalesced(
    Tensors& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) {
  constexpr Kind kKind{OpType::ALLGATHER_COALESCED, "ccl:all_gather_into_tensor_coalesced"};
  check_pairs(kKind.title, outputs, inputs);
  Launch launch = collective(kKind, options, inputs);
  for (size_t i = 0; i < inputs.size(); ++i) allgather_into(launch, outputs[i], inputs[i]);
  return launch.finish(outputs);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::reduce_scatter(
    Tensors& outputs, TensorLists& input_lists, const c10d::ReduceScatterOptions& options) {
  constexpr Kind kKind{OpType::REDUCE_SCATTER, "ccl:reduce_scatter"};
  const Tensor& output = only(outputs, kKind.title);
  const Tensors& inputs = only(input_lists, kKind.title);
  check_list(kKind.title, inputs, output, size_, rank_);
  Launch launch = collective(kKind, options, inputs);
  if (!equal_sizes(inputs)) {
    reduce_scatter_uneven(launch, output, inputs, options.reduceOp);
    return launch.finish(outputs);
  }
  const Reduction reduction = launch.reduction(options.reduceOp, output.scalar_type());
  void* result = launch.output(output);
  const void* memory = launch.joined(inputs);
  if (memory == nullptr) memory = launch.concatenated(inputs).const_data_ptr();
  launch.reduce_scatter(memory, result, reduction.element.count(output), reduction);
  return launch.finish(outputs);
}

void ProcessGroupTutti::reduce_scatter_into(Launch& launch, const Tensor& output,
                                            const Tensor& input, const c10d::ReduceOp& op) {
  check_blocks("ccl:reduce_scatter_tensor", input, output, size_);
  const Reduction reduction = launch.reduction(op, output.scalar_type());
  void* result = launch.output(output);
  launch.reduce_scatter(launch.input(input), result, reduction.element.count(output), reduction);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::_reduce_scatter_base(
    Tensor& output, Tensor& input, const c10d::ReduceScatterOptions& options) {
  Launch launch =
      collective({OpType::_REDUCE_SCATTER_BASE, "ccl:reduce_scatter_tensor"}, options, {input});
  reduce_scatter_into(launch, output, input, options.reduceOp);
  return launch.finish(Tensors{output});
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::reduce_scatter_tensor_coalesced(
    Tensors& outputs, Tensors& inputs, const c10d::ReduceScatterOptions& options) {
  constexpr Kind kKind{OpType::REDUCE_SCATTER_TENSOR_COALESCED,
                       "ccl:reduce_scatter_tensor_coalesced"};
  check_pairs(kKind.title, outputs, inputs);
  Launch launch = collective(kKind, options, inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    reduce_scatter_into(launch, outputs[i], inputs[i], options.reduceOp);
  }
  return launch.finish(outputs);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::barrier(const c10d::BarrierOptions& options) {
  Launch launch = collective({OpType::BARRIER, "ccl:barrier"}, options, {});
  launch.barrier();
  return launch.finish(Tensors{});
}

// An error of the library's barrier names the ranks that did not come, which is all that
// "monitored" asks for; that of all ranks comes at once, whatever wait_all_ranks says.
void ProcessGroupTutti::monitoredBarrier(const c10d::BarrierOptions& options,
                                         bool /*wait_all_ranks*/) {
  Launch launch(member_, {OpType::BARRIER, "ccl:monitored_barrier"}, true, options.timeout,
                ++sequence_, {});
  launch.barrier();
  if (const WorkPtr work = launch.finish(Tensors{})) work->wait();
}

}  // namespace tutti_torch
