// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "devices/level_zero/context.hpp"

#include <algorithm>

#include "core/wait.hpp"
#include "devices/level_zero/engine.hpp"

namespace tutti::devices::level_zero {

Context::Context(const Library& ze, const Device& device, const NativeQueue& native, bool owns)
    : ze_(ze),
      device_(device),
      native_(native),
      owns_(owns),
      memory_(ze, handle(), device),
      events_(ze, handle()),
      barriers_(ze, device, handle()) {}

Context::~Context() {
  if (!abandoned_ && !marks_come_to_rest()) abandon();
  if (abandoned_) return;
  for (auto& [key, module] : modules_) {
    if (module.ok()) ze_.zeModuleDestroy(*module);
  }
  barriers_.destroy();
  if (!owns_) return;
  ze_.zeCommandListDestroy(static_cast<ze_command_list_handle_t>(native_.queue));
  events_.destroy();
  ze_.zeContextDestroy(handle());
}

// Whether the application's queue has done with what was put into it.
bool Context::marks_come_to_rest() {
  constexpr int64_t kMostMs = 1000;
  for (const int64_t deadline_ms = now_ms() + kMostMs;; yield_core()) {
    if (events_.at_rest() && barriers_.at_rest()) return true;
    if (now_ms() >= deadline_ms) return false;
  }
}

void Context::abandon() {
  abandoned_ = true;
  events_.abandon();
}

// ---- memory ------------------------------------------------------------------------------------

Result<MemoryPlace> Context::place_of(const void* pointer) {
  return named(memory_.place_of(pointer));
}

Result<void*> Context::allocate(MemoryKind kind, size_t bytes) {
  Result<void*> memory = memory_.allocate(kind, bytes);
  if (memory.ok()) return memory;
  return memory.status().with_context(
      fmt::format("{}: {} bytes of {} memory", name(), bytes, memory_kind_name(kind)));
}

Status Context::free(void* memory) { return memory_.free(memory).with_context(name()); }

bool Context::ask_for(const DeviceUuid& other) const {
  const Result<const Inventory*> all = inventory();
  return all.ok() && std::ranges::any_of((*all)->devices, [&](const Device& one) {
           return one.facts.uuid == other && level_zero::reaches(ze_, device_, one);
         });
}

bool Context::reaches(const DeviceUuid& other) const {
  if (other == device_.facts.uuid) return true;
  const std::lock_guard lock(mutex_);
  const auto known = reached_.find(other);
  return known != reached_.end() ? known->second : (reached_[other] = ask_for(other));
}

Result<MemoryHandle> Context::export_memory(void* base) {
  return named(memory_.export_handle(base));
}

Result<void*> Context::open_memory(const MemoryHandle& handle) {
  return named(memory_.open(handle));
}

Status Context::close_memory(void* opened) { return memory_.close(opened).with_context(name()); }

// ---- work --------------------------------------------------------------------------------------

Result<ze_module_handle_t> Context::module(DataType type, DeviceVariant variant) {
  const std::lock_guard lock(mutex_);
  const auto key = std::pair(type, variant);
  auto found = modules_.find(key);
  if (found == modules_.end()) {
    found = modules_.emplace(key, build_module(*this, type, variant)).first;
  }
  return found->second;
}

Result<std::unique_ptr<DeviceEngine>> Context::make_engine(EngineKind kind) {
  const bool copies = kind == EngineKind::kCopy && device_.copy_ordinal.has_value();
  const ze_command_queue_desc_t desc{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     nullptr,
                                     copies ? *device_.copy_ordinal : device_.compute_ordinal,
                                     copies ? 0 : device_.compute_queue,
                                     0,
                                     ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
                                     ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  ze_command_list_handle_t list = nullptr;
  const ze_result_t result = ze_.zeCommandListCreateImmediate(handle(), device_.id, &desc, &list);
  if (result != ZE_RESULT_SUCCESS) {
    return failed(result, "zeCommandListCreateImmediate").with_context(name());
  }
  return std::unique_ptr<DeviceEngine>(new Engine(shared_from_this(), list, !copies));
}

Result<std::shared_ptr<DeviceEvent>> Context::add_marker() {
  if (native_.queue == nullptr) {
    return Status::format(Code::kInvalidUsage, "{}: there is no queue to be ordered after", name());
  }
  TUTTI_ASSIGN_OR_RETURN(ze_event_handle_t const event, named(events_.take()));
  if (const Status status = enqueue_barrier(event); !status.ok()) {
    events_.give_back(event, false);
    return status.with_context(name());
  }
  return std::shared_ptr<DeviceEvent>(std::make_shared<Event>(shared_from_this(), event, true));
}

Status Context::enqueue_barrier(ze_event_handle_t event) {
  if (!native_.immediate) {
    return barriers_.execute(static_cast<ze_command_queue_handle_t>(native_.queue), event);
  }
  TUTTI_LEVEL_ZERO_CALL(ze_, zeCommandListAppendBarrier,
                        static_cast<ze_command_list_handle_t>(native_.queue), event, 0, nullptr);
  return {};
}

Result<std::shared_ptr<SignalledEvent>> Context::make_event() {
  TUTTI_ASSIGN_OR_RETURN(ze_event_handle_t const event, named(events_.take()));
  return std::shared_ptr<SignalledEvent>(std::make_shared<Event>(shared_from_this(), event, false));
}

// Not by zeEventQueryStatus(), which is the same by the specification: without hardware Intel's
// driver only ends events that are waited for.
Result<bool> ended(const Library& ze, ze_event_handle_t event, Patience patience) {
  const ze_result_t result =
      ze.zeEventHostSynchronize(event, uint64_t{1000} * patience.microseconds);
  if (result == ZE_RESULT_SUCCESS) return true;
  if (result == ZE_RESULT_NOT_READY) return false;
  return failed(result, "zeEventHostSynchronize");
}

// An event that Tutti was to signal is signalled at last: nobody else does.
Event::~Event() {
  if (!is_mark_ && !done_) (void)Event::signal({});
  context_->events().give_back(event_, !done_);
}

Result<bool> Event::done_within(Patience patience) {
  if (done_) return true;
  TUTTI_ASSIGN_OR_RETURN(const bool now, context_->named(ended(context_->ze(), event_, patience)));
  if (now) done_ = true;
  return now;
}

// Level Zero cannot tell the device of an error.
Status Event::signal(const Status&) {
  const ze_result_t result = context_->ze().zeEventHostSignal(event_);
  if (result != ZE_RESULT_SUCCESS) {
    return failed(result, "zeEventHostSignal").with_context(context_->name());
  }
  done_ = true;
  return {};
}

}  // namespace tutti::devices::level_zero
