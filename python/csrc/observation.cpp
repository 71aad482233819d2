// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "observation.hpp"

#include <ATen/ATen.h>

#include <torch/csrc/distributed/c10d/ParamCommsUtils.hpp>

namespace tutti_torch {
namespace {

using at::Tensor;
using Tensors = std::vector<Tensor>;

// Blocks count as one tensor, which has no data: all of them, one above the other if they are
// equal.
Tensors as_operands(const Operands& operands) {
  if (!operands.one || operands.tensors.empty()) return operands.tensors.vec();
  const at::DisableRecordFunctionGuard no_events;
  const Tensor& first = operands.tensors.front();
  int64_t elements = 0;
  bool equal = true;
  for (const Tensor& block : operands.tensors) {
    elements += block.numel();
    equal = equal && block.sizes() == first.sizes();
  }
  std::vector<int64_t> sizes{elements};
  if (equal) {
    sizes.assign(first.sizes().begin(), first.sizes().end());
    sizes.insert(sizes.begin(), static_cast<int64_t>(operands.tensors.size()));
  }
  return {at::empty(sizes, first.options().device(at::kMeta))};
}

int64_t elements_of(const Tensors& tensors) {
  int64_t all = 0;
  for (const Tensor& tensor : tensors) all += tensor.numel();
  return all;
}

// The first rank, and how far apart the first two are: profilers have room for nothing else.
std::pair<int, int> start_and_stride(const std::vector<int>& ranks) {
  if (ranks.empty()) return {0, 1};
  return {ranks.front(), ranks.size() < 2 ? 1 : ranks[1] - ranks[0]};
}

std::string after_colon(const char* title) {
  const std::string_view text = title;
  return std::string(text.substr(text.find(':') + 1));
}

}  // namespace

// PyTorch's event `record_param_comms`, as its macro RECORD_PARAM_COMMS_DATA makes it.
struct Observation::Told::Profiled {
  Profiled(const Call& call, const Tensors& inputs, const Tensors& outputs)
      : guard(c10::DebugInfoKind::PARAM_COMMS_INFO, info_of(call, inputs, outputs)) {
    if (!function.isActive()) return;
    const auto sequence =
        std::make_tuple(static_cast<int64_t>(call.sequence), call.peer.has_value());
    const auto name = std::make_tuple(call.stream.group, call.description);
    const auto [start, stride] = start_and_stride(call.stream.global_ranks);
    const std::vector<int64_t> splits;
    facts = {inputs,    sequence, name,  call.stream.rank, after_colon(call.kind.title),
             splits,    splits,   start, stride,           call.stream.size,
             call.async};
    function.before(at::kParamCommsCallName,
                    c10::ArrayRef<const c10::IValue>(facts.data(), facts.size()));
    if (function.needsOutputs())
      function.setOutputs(std::vector<c10::IValue>(1, c10::IValue(outputs)));
  }

  static std::shared_ptr<torch::ParamCommsDebugInfo> info_of(const Call& call,
                                                             const Tensors& inputs,
                                                             const Tensors& outputs) {
    const Tensors& typed = inputs.empty() ? outputs : inputs;
    const auto [start, stride] = start_and_stride(call.stream.global_ranks);
    auto info = std::make_shared<torch::ParamCommsDebugInfo>(
        std::make_tuple(call.stream.group, call.description), call.stream.rank,
        after_colon(call.kind.title), elements_of(inputs), elements_of(outputs),
        typed.empty() ? at::kByte : typed.front().scalar_type(), std::vector<int64_t>{},
        std::vector<int64_t>{}, start, stride, call.stream.size, call.async);
    info->setSequenceInfo(static_cast<int64_t>(call.sequence), call.peer.has_value());
    return info;
  }

  const c10::DebugInfoGuard guard;
  std::vector<c10::IValue> facts;  // as long as the event
  at::RecordFunction function{at::RecordScope::FUNCTION};
};

thread_local Observation::Told* Observation::current = nullptr;

Observation::Told::Told(const Call& call)
    : group(call.stream.group), sequence(call.sequence), outer_(current) {
  const Tensors inputs = as_operands(call.inputs);
  const Tensors outputs = as_operands(call.outputs);
  if (FlightRecorder::on()) entry = FlightRecorder::record(call, inputs, outputs);
  if (at::hasCallbacks()) profiled_ = std::make_unique<Profiled>(call, inputs, outputs);
  current = this;
}

Observation::Told::~Told() { current = outer_; }

void Observation::Told::end() {
  profiled_.reset();
  FlightRecorder::complete(std::exchange(entry, {}));
}

Observation::Told* Observation::tell(const Call& call) { return new Told(call); }

void Observation::Forget::operator()(Told* told) const { delete told; }

std::unordered_map<std::string, c10::IValue> Observation::facts() {
  if (current == nullptr) return {};
  return {{"group", current->group}, {"seq", static_cast<int64_t>(current->sequence)}};
}

FlightRecorder::Entry Observation::take_entry() {
  return current != nullptr ? std::exchange(current->entry, {}) : FlightRecorder::Entry{};
}

}  // namespace tutti_torch
