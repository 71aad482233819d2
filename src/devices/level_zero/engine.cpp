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
  if (!comes_to_rest(*this)) {  // commands that still run may use all of it
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
  if (memory.ok()) bounce_buffers_.push_back({*memory, dst, bytes});
  return memory;
}

// Level Zero promises access to its own memory only. Other memory of the host is copied here: now
// if it is the source, and once the end was seen if it is written.
Status Engine::copy(void* dst, const void* source, size_t bytes) {
  if (bytes == 0) return {};
  TUTTI_ASSIGN_OR_RETURN(const MemoryPlace from, context_->remembered(source));
  TUTTI_ASSIGN_OR_RETURN(const MemoryPlace to, context_->remembered(dst));
  if (from.on_host()) {
    TUTTI_ASSIGN_OR_RETURN(void* bounce, stage(bytes, nullptr));
    std::memcpy(bounce, source, bytes);
    source = bounce;
  }
  if (to.on_host()) {
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
  TUTTI_ASSIGN_OR_RETURN(const MemoryPlace place, context_->remembered(pointer));
  const bool beyond = place.kind == MemoryKind::kForeign || place.kind == MemoryKind::kBeyond;
  if (place.on_host() || beyond) {
    return Status::format(Code::kInvalidArgument, "{}: {} is memory that it does not reach ({})",
                          context_->name(), pointer, memory_kind_name(place.kind));
  }
  Argument argument = value_argument(address(pointer), sizeof pointer);
  argument.allocation = place.allocation;
  return argument;
}

uint64_t Engine::most_work_items() const {
  return computes_ ? uint64_t{context_->device().most_groups} * context_->device().group_size : 0;
}

Status Engine::compile(const DeviceKernel& kernel) {
  return context_->module(kernel.type, kernel.variant).status();
}

Status Engine::launch(const DeviceLaunch& launch) {
  Command command;
  command.kernel = launch.kernel;
  command.work_items = launch.work_items;
  for (const auto& [pointer, bytes] : launch.memory) {
    command.arguments.emplace_back();
    if (pointer == nullptr) continue;
    const bool writes = command.accesses.empty();
    command.accesses.push_back({address(pointer), address(pointer) + bytes, writes});
    TUTTI_ASSIGN_OR_RETURN(command.arguments.back(), this->pointer(pointer));
  }
  for (const auto& [bits, bytes] : launch.values) {
    command.arguments.push_back(value_argument(bits, bytes));
  }
  TUTTI_RETURN_IF_ERROR(compile(launch.kernel));
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

// Everything before the barrier is done before anything after it begins.
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
  if (event.ok()) submitted_.push_back({++last_, *event, std::move(bounce_buffers_), {}});
  bounce_buffers_.clear();
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
  for (const BounceBuffer& bounce : submission.bounce_buffers) {
    if (bounce.dst != nullptr) std::memcpy(bounce.dst, bounce.memory, bounce.bytes);
    if (const Status freed = context_->free(bounce.memory); !freed.ok()) lost_ = freed;
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
