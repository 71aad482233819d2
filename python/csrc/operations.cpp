// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "operations.hpp"

#include <array>
#include <cctype>

#include "checks.hpp"
#include "coalescing.hpp"
#include "observation.hpp"

namespace tutti_torch::operations {
namespace {

using at::Tensor;
using c10d::OpType;
using c10d::ReduceOp;

bool same_word(std::string_view given, std::string_view lower) {
  return std::equal(given.begin(), given.end(), lower.begin(), lower.end(), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == b;
  });
}

ReduceOp op_named(const char* title, std::string_view name) {
  struct Named {
    std::string_view name;
    ReduceOp::RedOpType op;
  };
  static constexpr std::array kOps = {
      Named{"sum", ReduceOp::SUM},         Named{"avg", ReduceOp::AVG},
      Named{"product", ReduceOp::PRODUCT}, Named{"min", ReduceOp::MIN},
      Named{"max", ReduceOp::MAX},         Named{"band", ReduceOp::BAND},
      Named{"bor", ReduceOp::BOR},         Named{"bxor", ReduceOp::BXOR},
  };
  for (const Named& each : kOps) {
    if (same_word(name, each.name)) return each.op;
  }
  C10_THROW_ERROR(ValueError, std::string(title) + ": reduce_op is '" + std::string(name) +
                                  "', expected sum, avg, product, min, max, band, bor or bxor");
}

ObservedLaunch begin(const Stream& group, OpType type, const char* title, const Tensor& output,
                     const Tensor& input) {
  static const std::string no_description;
  TORCH_CHECK(!group.coalescing->here(), title,
              ": blocks, so it cannot be called in a coalescing manager");
  return {{group,
           no_description,
           {type, title},
           ++group.sequence,
           false,
           c10d::kUnsetTimeout,
           input,
           output,
           std::nullopt},
          true};
}

// A profiler asks for a handle even of a call that blocks.
void end(ObservedLaunch& launch, const Tensor& output) {
  if (const auto work = launch.finish(output)) work->wait();
}

}  // namespace

void all_reduce(const Stream& group, const Tensor& output, const Tensor& input,
                std::string_view op) {
  constexpr const char* kTitle = "tutti:all_reduce";
  auto launch = begin(group, OpType::ALLREDUCE, kTitle, output, input);
  const Reduction reduction = launch.reduction(op_named(kTitle, op), input.scalar_type());
  const bool in_place = output.is_same(input);
  void* result = in_place ? launch.in_out(output) : launch.output(output);
  const void* source = in_place ? result : launch.input(input);
  launch.allreduce(source, result, reduction.element.count(input), reduction);
  end(launch, output);
}

void all_gather(const Stream& group, const Tensor& output, const Tensor& input) {
  constexpr const char* kTitle = "tutti:all_gather";
  check_blocks(kTitle, output, input, group.size);
  auto launch = begin(group, OpType::_ALLGATHER_BASE, kTitle, output, input);
  const Element element = moved_element(input.scalar_type());
  void* memory = launch.output(output);
  launch.allgather(launch.input(input), memory, element.count(input), element.type);
  end(launch, output);
}

void reduce_scatter(const Stream& group, const Tensor& output, const Tensor& input,
                    std::string_view op) {
  constexpr const char* kTitle = "tutti:reduce_scatter";
  check_blocks(kTitle, input, output, group.size);
  auto launch = begin(group, OpType::_REDUCE_SCATTER_BASE, kTitle, output, input);
  const Reduction reduction = launch.reduction(op_named(kTitle, op), output.scalar_type());
  void* result = launch.output(output);
  launch.reduce_scatter(launch.input(input), result, reduction.element.count(output), reduction);
  end(launch, output);
}

void all_to_all(const Stream& group, const Tensor& output, const Tensor& input,
                Splits output_splits, Splits input_splits) {
  constexpr const char* kTitle = "tutti:all_to_all";
  check_types(kTitle, output, input);
  const Element element = moved_element(input.scalar_type());
  const Counts received = counts_of_rows(kTitle, output, output_splits.value_or(at::IntArrayRef{}),
                                         group.size, element);
  const Counts sent =
      counts_of_rows(kTitle, input, input_splits.value_or(at::IntArrayRef{}), group.size, element);
  auto launch = begin(group, OpType::ALLTOALL_BASE, kTitle, output, input);
  const void* source = launch.input(input);
  void* target = launch.output(output);
  launch.alltoallv(source, sent, target, received, element.type);
  end(launch, output);
}

}  // namespace tutti_torch::operations
