// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Tensors that are negated views, such as x.conj().imag: their memory has the negative of their
// values. PyTorch gives the operators of torch.distributed a copy of such a tensor's values, so
// that what a backend writes to it is lost. To groups over ccl they come as they are, which knows
// how to read and write them (launch_memory.cpp); others get what they always have.
#include <ATen/Functions.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <torch/library.h>

#include <algorithm>

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "process_group.hpp"

namespace tutti_torch {
namespace {

bool is_over_ccl(const c10::IValue& value) {
  if (!value.isCustomClass()) return false;
  try {
    const auto group = value.toCustomClass<c10d::ProcessGroup>();
    const auto backend = group->getBackend(c10::DeviceType::CPU);
    return dynamic_cast<ProcessGroupTutti*>(backend.get()) != nullptr;
  } catch (const c10::Error&) {  // it is no group, or has no backend for the CPU
    return false;
  }
}

c10::IValue resolved(const c10::IValue& value) {
  if (value.isTensor()) return value.toTensor().resolve_neg();
  if (value.isTensorList()) {
    std::vector<at::Tensor> tensors = value.toTensorVector();
    for (at::Tensor& tensor : tensors) tensor = tensor.resolve_neg();
    return tensors;
  }
  if (!value.isList()) return value;
  const auto list = value.toList();
  if (list.elementType()->kind() != c10::TypeKind::ListType) return value;
  c10::impl::GenericList lists(list.elementType());
  for (const c10::IValue& each : list) lists.emplace_back(resolved(each));
  return lists;
}

void pass_negated(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                  torch::jit::Stack* stack) {
  auto arguments = torch::jit::last(*stack, op.schema().arguments().size());
  const bool ours = std::any_of(arguments.begin(), arguments.end(), is_over_ccl);
  if (!ours) {
    const size_t begin = stack->size() - op.schema().arguments().size();
    for (size_t i = begin; i < stack->size(); ++i) (*stack)[i] = resolved((*stack)[i]);
  }
  op.redispatchBoxed(
      keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, c10::DispatchKey::Negative),
      stack);
}

}  // namespace
}  // namespace tutti_torch

TORCH_LIBRARY_IMPL(c10d, Negative, library) {
  for (const char* name :
       {"allreduce_", "allreduce_coalesced_", "broadcast_", "reduce_", "allgather_",
        "_allgather_base_", "allgather_coalesced_", "allgather_into_tensor_coalesced_",
        "reduce_scatter_", "_reduce_scatter_base_", "reduce_scatter_tensor_coalesced_", "gather_",
        "scatter_", "alltoall_", "alltoall_base_", "send", "recv_", "recv_any_source_"}) {
    library.impl(name, torch::CppFunction::makeFromBoxedFunction<&tutti_torch::pass_negated>());
  }
}
