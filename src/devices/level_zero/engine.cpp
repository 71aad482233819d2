// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "devices/level_zero/engine.hpp"

#include <algorithm>
#include <cstring>

namespace tutti::devices::level_zero {

Engine::Engine(std::shared_ptr<Context> context, ze_command_list_handle_t list, bool computes)
    : context_(std::move(context)),
      ze_(context_->ze()),
      list_(list),
      computes_(computes),
      kernels_(*context_) {}

Engine::~Engine() {
  if (!comes_to_rest(*this)) {  // what runs there may use all of it
    kernels_.abandon();
    context_->abandon();
    return;
  }
  ze_.zeCommandListDestroy(list_);
}

// ---- what is given -----------------------------------------------------------------------------

Status Engine::after(std::shared_ptr<DeviceEvent> event) {
  Command command;
  command.awaited = std::move(event);
  given_.push_back(std::move(command));
  return {};
}

Result<void*> Engine::stage(size_t bytes, void* dst) {
  Result<void*> memory = context_->allocate(MemoryKind::kPinned, bytes);
  if (memory.ok()) staging_.push_back({*memory, dst, bytes});
  return memory;
}

// Level Zero promises access to its own memory only. Other memory of the host is copied here: now
// if it is the source, and when done() has seen the end if it is written.
Status Engine::copy(void* dst, const void* source, size_t bytes) {
  if (bytes == 0) return {};
  Result<Place> from = context_->memory().remembered(source);
  if (!from.ok()) return from.status().with_context(context_->name());
  Result<Place> to = context_->memory().remembered(dst);
  if (!to.ok()) return to.status().with_context(context_->name());
  if (from->on_host()) {
    TUTTI_ASSIGN_OR_RETURN(void* staged, stage(bytes, nullptr));
    std::memcpy(staged, source, bytes);
    source = staged;
  }
  if (to->on_host()) {
    TUTTI_ASSIGN_OR_RETURN(dst, stage(bytes, dst));
  }
  Command command;
  command.accesses = {{address(source), address(source) + bytes, false},
                      {address(dst), address(dst) + bytes, true}};
  command.dst = dst;
  command.source = source;
  given_.push_back(std::move(command));
  return {};
}

Result<Argument> Engine::pointer(const void* pointer) {
  Result<Place> place = context_->memory().remembered(pointer);
  if (!place.ok()) return place.status().with_context(context_->name());
  const bool beyond = place->kind == MemoryKind::kForeign || place->kind == MemoryKind::kBeyond;
  if (place->on_host() || beyond) {
    return Status::format(Code::kInvalidArgument, "{}: {} is memory that it does not reach ({})",
                          context_->name(), pointer, memory_kind_name(place->kind));
  }
  Argument argument = value_argument(pointer);
  argument.allocation = place->allocation;
  return argument;
}

Status Engine::check_kernel(const char* name, DataType type, size_t sources, ReduceOp op) const {
  if (name != nullptr && sources > 0 && sources <= kMostSources && computes_) return {};
  return Status::format(Code::kUnsupported, "{}: no kernel for {} of {} {}{}", context_->name(),
                        op_name(op), sources, type_name(type),
                        computes_ ? "" : " on an engine that copies");
}

Status Engine::prepare(ReduceOp op, DataType type) {
  TUTTI_RETURN_IF_ERROR(check_kernel(device_kernel_name(op, type), type, 1, op));
  for (const DeviceVariant variant : {DeviceVariant::kScalar, DeviceVariant::kVector}) {
    Result<ze_module_handle_t> module = context_->module(part_type(type), variant);
    if (!module.ok()) return module.status();
  }
  return {};
}

// The elements of one launch, so that those after the first are aligned as it is.
uint64_t Engine::most_elements() const {
  constexpr uint64_t kAligned = 16;
  const uint64_t items = uint64_t{context_->device().most_groups} * context_->device().group_size;
  return std::max(items / kAligned * kAligned, kAligned);
}

Status Engine::reduce(const Reduction& asked) {
  const char* const name = device_kernel_name(asked.op, asked.type, asked.part);
  TUTTI_RETURN_IF_ERROR(check_kernel(name, asked.type, asked.sources.size(), asked.op));
  const Reduction given = by_parts(asked);
  const uint64_t most = most_elements();
  if (given.count <= most) return given.count == 0 ? Status() : reduce_at_once(name, given);
  for (uint64_t first = 0; first < given.count; first += most) {
    Reduction part = given;
    part.count = first;
    std::array<const void*, kMostSources> sources{};
    for (size_t s = 0; s < given.sources.size(); ++s) {
      sources[s] = static_cast<const std::byte*>(given.sources[s]) + bytes_of_source(part, s);
    }
    part.dst = static_cast<std::byte*>(given.dst) + bytes_of_dst(part);
    part.sources = std::span(sources.data(), given.sources.size());
    part.count = std::min(most, given.count - first);
    TUTTI_RETURN_IF_ERROR(reduce_at_once(name, part));
  }
  return {};
}

Status Engine::reduce_at_once(const char* name, const Reduction& given) {
  Command command;
  uintptr_t addresses = address(given.dst);
  command.accesses.push_back({addresses, addresses + bytes_of_dst(given), true});
  TUTTI_ASSIGN_OR_RETURN(Argument dst, pointer(given.dst));
  command.arguments.push_back(dst);
  for (size_t s = 0; s < given.sources.size(); ++s) {
    const void* const source = given.sources[s];
    addresses |= address(source);
    command.accesses.push_back(
        {address(source), address(source) + bytes_of_source(given, s), false});
    TUTTI_ASSIGN_OR_RETURN(Argument argument, pointer(source));
    command.arguments.push_back(argument);
  }
  command.arguments.resize(1 + kMostSources);  // those that are not read are null
  command.arguments.push_back(value_argument(static_cast<uint32_t>(given.sources.size())));
  command.arguments.push_back(value_argument(given.count));
  command.arguments.push_back(value_argument(std::max<uint32_t>(given.divisor, 1)));
  // Averages of 16 small integers at once spill on most devices.
  const bool spills = given.op == ReduceOp::kAvg && type_size(given.type) == 1;
  const bool scalar = spills || passes_floats(given);
  const DeviceVariant variant = scalar ? DeviceVariant::kScalar : device_variant_for(addresses);
  command.kernel = {given.type, variant, name};
  command.work_items = device_work_items(given.type, variant, given.count);
  Result<ze_module_handle_t> module = context_->module(given.type, variant);
  if (!module.ok()) return module.status();
  given_.push_back(std::move(command));
  return {};
}

Status Engine::scale(DataType type, void* dst, const void* source, const void* scalar,
                     uint64_t count) {
  const bool has_kernel = device_kernel_name(ReduceOp::kPremulSum, type) != nullptr;
  TUTTI_RETURN_IF_ERROR(
      check_kernel(has_kernel ? kDeviceScaleKernel : nullptr, type, 1, ReduceOp::kPremulSum));
  const uint64_t most = most_elements();
  for (uint64_t first = 0; first < count; first += most) {
    const uint64_t offset = first * type_size(type);
    TUTTI_RETURN_IF_ERROR(scale_at_once(type, static_cast<std::byte*>(dst) + offset,
                                        static_cast<const std::byte*>(source) + offset, scalar,
                                        std::min(most, count - first)));
  }
  return {};
}

Status Engine::scale_at_once(DataType type, void* dst, const void* source, const void* scalar,
                             uint64_t count) {
  const uint64_t bytes = count * type_size(type);
  TUTTI_ASSIGN_OR_RETURN(Argument to, pointer(dst));
  TUTTI_ASSIGN_OR_RETURN(Argument from, pointer(source));
  uint64_t factor = 0;
  std::memcpy(&factor, scalar, type_size(type));
  Command command;
  command.accesses = {{address(source), address(source) + bytes, false},
                      {address(dst), address(dst) + bytes, true}};
  command.arguments = {to, from, value_argument(count), value_argument(factor)};
  command.kernel = {type, device_variant_for(address(dst) | address(source)), kDeviceScaleKernel};
  command.work_items = device_work_items(type, command.kernel.variant, count);
  Result<ze_module_handle_t> module = context_->module(type, command.kernel.variant);
  if (!module.ok()) return module.status();
  given_.push_back(std::move(command));
  return {};
}

// ---- what is submitted -------------------------------------------------------------------------

bool Engine::conflicts(const Command& command) const {
  return std::ranges::any_of(command.accesses, [&](const Access& one) {
    return std::ranges::any_of(in_flight_, [&](const Access& other) {
      return (one.writes || other.writes) && one.begin < other.end && other.begin < one.end;
    });
  });
}

// All before it is done before anything after it begins.
Status Engine::barrier(ze_event_handle_t event) {
  TUTTI_LEVEL_ZERO_CALL(ze_, zeCommandListAppendBarrier, list_, event, 0, nullptr);
  in_flight_.clear();
  return {};
}

Status Engine::append_launch(const Command& command, ze_event_handle_t event) {
  TUTTI_ASSIGN_OR_RETURN(Kernels::Ready ready, kernels_.get(command.kernel, command.arguments));
  const uint64_t groups = (command.work_items + ready.group_size - 1) / ready.group_size;
  if (groups > context_->device().most_groups) {
    return Status::format(Code::kUnsupported, "{} groups of {} work-items: expected at most {}",
                          groups, ready.group_size, context_->device().most_groups);
  }
  const ze_group_count_t count{static_cast<uint32_t>(groups), 1, 1};
  TUTTI_LEVEL_ZERO_CALL(ze_, zeCommandListAppendLaunchKernel, list_, ready.kernel, &count, event, 0,
                        nullptr);
  return {};
}

Status Engine::append(const Command& command, ze_event_handle_t event) {
  if (command.awaited != nullptr) {
    auto* awaited = static_cast<ze_event_handle_t>(command.awaited->native());
    TUTTI_LEVEL_ZERO_CALL(ze_, zeCommandListAppendBarrier, list_, event, 1, &awaited);
    return {};
  }
  if (command.work_items > 0) return append_launch(command, event);
  TUTTI_LEVEL_ZERO_CALL(ze_, zeCommandListAppendMemoryCopy, list_, command.dst, command.source,
                        command.accesses.back().end - command.accesses.back().begin, event, 0,
                        nullptr);
  return {};
}

// The last command signals the event itself, if nothing else can be on its way then.
Status Engine::append_all(ze_event_handle_t event) {
  bool signals = false;
  for (const Command& command : given_) {
    if (conflicts(command)) TUTTI_RETURN_IF_ERROR(barrier(nullptr));
    signals = &command == &given_.back() && in_flight_.empty();
    TUTTI_RETURN_IF_ERROR(append(command, signals ? event : nullptr));
    in_flight_.insert(in_flight_.end(), command.accesses.begin(), command.accesses.end());
  }
  return signals ? Status() : barrier(event);
}

Result<uint64_t> Engine::submit() {
  if (!lost_.ok()) return lost_;
  Result<ze_event_handle_t> event = context_->events().take();
  Status status = event.ok() ? append_all(*event) : event.status();
  if (event.ok()) submitted_.push_back({++last_, *event, std::move(staging_), {}});
  staging_.clear();
  for (Command& command : given_) {
    if (command.awaited && event.ok())
      submitted_.back().awaited.push_back(std::move(command.awaited));
  }
  given_.clear();
  if (!status.ok()) {  // nobody knows what of it runs
    lost_ = status.with_context(context_->name());
    return lost_;
  }
  return last_;
}

void Engine::finish(Submission& submission) {
  for (const Staging& staged : submission.staging) {
    if (staged.dst != nullptr) std::memcpy(staged.dst, staged.memory, staged.bytes);
    if (const Status freed = context_->free(staged.memory); !freed.ok()) lost_ = freed;
  }
  context_->events().give_back(submission.event, false);
}

Result<bool> Engine::done_within(uint64_t submission, Patience patience) {
  while (lost_.ok() && !submitted_.empty() && submitted_.front().number <= submission) {
    const Result<bool> over = ended(ze_, submitted_.front().event, patience);
    if (!over.ok()) {
      lost_ = over.status().with_context(context_->name());
      return lost_;
    }
    if (!*over) return false;
    finish(submitted_.front());
    submitted_.pop_front();
    if (submitted_.empty()) in_flight_.clear();
  }
  if (!lost_.ok()) return lost_;
  return true;
}

}  // namespace tutti::devices::level_zero
