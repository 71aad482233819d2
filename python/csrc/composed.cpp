// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Operations that the library has no collective for yet, made of those it has and of messages. They
// are right for every type, shape and number of ranks; they are not tuned.
//
// Messages of all composed operations share one tag. Since all ranks make their collective calls in
// the same order, and messages between two ranks arrive in the order sent, each finds its
// operation.
#include <limits>
#include <numeric>

#include "process_group.hpp"

namespace tutti_torch {
namespace {

using c10d::OpType;
using Tensors = ProcessGroupTutti::Tensors;

constexpr int kTag = std::numeric_limits<int>::max();

void send_to(Launch& launch, const at::Tensor& tensor, int peer) {
  const Element element = moved_element(tensor.scalar_type());
  launch.send(launch.input(tensor), element.count(tensor), element.type, peer, kTag);
}

void receive_from(Launch& launch, const at::Tensor& tensor, int peer) {
  const Element element = moved_element(tensor.scalar_type());
  launch.recv(launch.output(tensor), element.count(tensor), element.type, peer, kTag);
}

int checked_root(const char* title, int64_t root, int size) {
  TORCH_CHECK(root >= 0 && root < size, title, ": root is ", root, ", expected 0 to ", size - 1);
  return static_cast<int>(root);
}

// The parts of a tensor for each rank: `splits` rows of its first dimension, equally many if empty.
Tensors parts_by_rank(const char* title, const at::Tensor& tensor,
                      const std::vector<int64_t>& splits, int size) {
  const int64_t rows = tensor.dim() == 0 ? 1 : tensor.size(0);
  std::vector<int64_t> counts = splits;
  if (counts.empty()) {
    TORCH_CHECK(rows % size == 0, title, ": a tensor with ", rows,
                " rows cannot be split equally among ", size, " ranks");
    counts.assign(static_cast<size_t>(size), rows / size);
  }
  TORCH_CHECK(counts.size() == static_cast<size_t>(size), title, ": got ", counts.size(),
              " split sizes for ", size, " ranks");
  const int64_t sum = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  TORCH_CHECK(sum == rows, title, ": split sizes sum to ", sum, ", the tensor has ", rows, " rows");
  const at::NoGradGuard no_grad;
  return (tensor.dim() == 0 ? tensor.unsqueeze(0) : tensor).split_with_sizes(counts);
}

}  // namespace

// Every rank but the root keeps its tensor as it was.
ProcessGroupTutti::WorkPtr ProcessGroupTutti::reduce(Tensors& tensors,
                                                     const c10d::ReduceOptions& options) {
  constexpr Kind kKind{OpType::REDUCE, "ccl:reduce"};
  const Tensor& tensor = only(tensors, kKind.title);
  const int root = checked_root(kKind.title, options.rootRank, size_);
  Launch launch = collective(kKind, options, tensors);
  const Reduction reduction = launch.reduction(options.reduceOp, tensor.scalar_type());
  void* result = rank_ == root ? launch.in_out(tensor)
                               : launch.scratch(tensor.numel(), tensor.scalar_type()).data_ptr();
  const void* source = rank_ == root ? result : launch.input(tensor);
  launch.allreduce(source, result, reduction.element.count(tensor), reduction);
  return launch.finish(tensors);
}

// One broadcast per rank.
void ProcessGroupTutti::allgather_uneven(Launch& launch, const Tensors& outputs,
                                         const Tensor& input) {
  for (int root = 0; root < size_; ++root) {
    const Tensor& output = outputs[static_cast<size_t>(root)];
    const Element element = moved_element(output.scalar_type());
    if (root == rank_) {
      // The broadcast then starts from the output, which needs this block as well.
      const at::NoGradGuard no_grad;
      output.copy_(input.reshape(output.sizes()));
    }
    launch.broadcast(launch.in_out(output), element.count(output), element.type, root);
  }
}

// An allreduce of everything, of which this rank keeps its block.
void ProcessGroupTutti::reduce_scatter_uneven(Launch& launch, const Tensor& output,
                                              const Tensors& inputs, const c10d::ReduceOp& op) {
  const Reduction reduction = launch.reduction(op, output.scalar_type());
  const Tensor all = launch.concatenated(inputs);
  int64_t offset = 0;
  for (int rank = 0; rank < rank_; ++rank) offset += inputs[static_cast<size_t>(rank)].numel();
  launch.copy_at_end(output, all.narrow(0, offset, output.numel()).view(output.sizes()));
  launch.allreduce(all.data_ptr(), all.data_ptr(), reduction.element.count(all), reduction);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::gather(TensorLists& output_lists, Tensors& inputs,
                                                     const c10d::GatherOptions& options) {
  constexpr Kind kKind{OpType::GATHER, "ccl:gather"};
  const Tensor& input = only(inputs, kKind.title);
  const int root = checked_root(kKind.title, options.rootRank, size_);
  Launch launch = messages(kKind, options.timeout, inputs);
  if (rank_ != root) {
    send_to(launch, input, root);
    return launch.finish(TensorLists{});
  }
  const Tensors& outputs = only(output_lists, kKind.title);
  TORCH_CHECK(outputs.size() == static_cast<size_t>(size_), kKind.title, ": the root gave ",
              outputs.size(), " outputs for ", size_, " ranks");
  for (int peer = 0; peer < size_; ++peer) {
    const Tensor& output = outputs[static_cast<size_t>(peer)];
    if (peer == rank_) {
      launch.copy_at_end(output, input.reshape_as(output));
    } else {
      receive_from(launch, output, peer);
    }
  }
  return launch.finish(output_lists);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::scatter(Tensors& outputs, TensorLists& input_lists,
                                                      const c10d::ScatterOptions& options) {
  constexpr Kind kKind{OpType::SCATTER, "ccl:scatter"};
  const Tensor& output = only(outputs, kKind.title);
  const int root = checked_root(kKind.title, options.rootRank, size_);
  Launch launch = messages(kKind, options.timeout, outputs);
  if (rank_ != root) {
    receive_from(launch, output, root);
    return launch.finish(outputs);
  }
  const Tensors& inputs = only(input_lists, kKind.title);
  TORCH_CHECK(inputs.size() == static_cast<size_t>(size_), kKind.title, ": the root gave ",
              inputs.size(), " inputs for ", size_, " ranks");
  for (int peer = 0; peer < size_; ++peer) {
    const Tensor& input = inputs[static_cast<size_t>(peer)];
    if (peer == rank_) {
      launch.copy_at_end(output, input.reshape_as(output));
    } else {
      send_to(launch, input, peer);
    }
  }
  return launch.finish(outputs);
}

// Receives are posted before sends, so that no message waits in the library for its place.
void ProcessGroupTutti::exchange(Launch& launch, const Tensors& outputs, const Tensors& inputs) {
  for (int step = 1; step < size_; ++step) {
    const int from = (rank_ - step + size_) % size_;
    receive_from(launch, outputs[static_cast<size_t>(from)], from);
  }
  for (int step = 1; step < size_; ++step) {
    const int to = (rank_ + step) % size_;
    send_to(launch, inputs[static_cast<size_t>(to)], to);
  }
  const auto self = static_cast<size_t>(rank_);
  launch.copy_at_end(outputs[self], inputs[self].reshape_as(outputs[self]));
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::alltoall(Tensors& outputs, Tensors& inputs,
                                                       const c10d::AllToAllOptions& options) {
  constexpr Kind kKind{OpType::ALLTOALL, "ccl:all_to_all"};
  TORCH_CHECK(outputs.size() == static_cast<size_t>(size_) && inputs.size() == outputs.size(),
              kKind.title, ": expected ", size_, " inputs and outputs, got ", inputs.size(),
              " inputs and ", outputs.size(), " outputs");
  Launch launch = messages(kKind, options.timeout, inputs);
  exchange(launch, outputs, inputs);
  return launch.finish(outputs);
}

ProcessGroupTutti::WorkPtr ProcessGroupTutti::alltoall_base(Tensor& output, Tensor& input,
                                                            std::vector<int64_t>& output_splits,
                                                            std::vector<int64_t>& input_splits,
                                                            const c10d::AllToAllOptions& options) {
  constexpr Kind kKind{OpType::ALLTOALL_BASE, "ccl:all_to_all"};
  Launch launch = messages(kKind, options.timeout, {input});
  exchange(launch, parts_by_rank(kKind.title, output, output_splits, size_),
           parts_by_rank(kKind.title, input, input_splits, size_));
  return launch.finish(Tensors{output});
}

}  // namespace tutti_torch
