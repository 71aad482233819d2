// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "devices/level_zero/context.hpp"

#include "devices/level_zero/engine.hpp"

namespace tutti::devices::level_zero {

Context::Context(const Library& ze, const Device& device, const NativeQueue& native, bool owns)
    : ze_(ze),
      device_(device),
      native_(native),
      owns_(owns),
      memory_(ze, handle(), device),
      events_(ze, handle()) {}

Context::~Context() {
  if (abandoned_) return;
  for (auto& [key, module] : modules_) {
    if (module.ok()) ze_.zeModuleDestroy(*module);
  }
  for (const auto& [event, list] : barriers_) ze_.zeCommandListDestroy(list);
  if (!owns_) return;
  ze_.zeCommandListDestroy(static_cast<ze_command_list_handle_t>(native_.queue));
  events_.destroy();
  ze_.zeContextDestroy(handle());
}

void Context::abandon() {
  abandoned_ = true;
  events_.abandon();
}

// ---- memory ------------------------------------------------------------------------------------

Result<Place> Context::place_of(const void* pointer) {
  Result<Place> place = memory_.place_of(pointer);
  if (!place.ok()) return place.status().with_context(name());
  return place;
}

Result<void*> Context::allocate(MemoryKind kind, size_t bytes) {
  Result<void*> memory = memory_.allocate(kind, bytes);
  if (memory.ok()) return memory;
  return memory.status().with_context(
      fmt::format("{}: {} bytes of {} memory", name(), bytes, memory_kind_name(kind)));
}

Status Context::free(void* memory) { return memory_.free(memory).with_context(name()); }

bool Context::reaches(const CardId& card) const {
  if (card == device_.facts.card) return true;
  const Result<const Inventory*> all = inventory();
  if (!all.ok()) return false;
  for (const Device& other : (*all)->devices) {
    ze_bool_t can = 0;
    if (other.facts.card == card && other.facts.parent < 0 && other.driver == device_.driver &&
        ze_.zeDeviceCanAccessPeer(device_.id, other.id, &can) == ZE_RESULT_SUCCESS) {
      return can != 0;
    }
  }
  return false;
}

Result<MemoryHandle> Context::export_memory(void* base) {
  Result<MemoryHandle> handle = memory_.export_handle(base);
  if (!handle.ok()) return handle.status().with_context(name());
  return handle;
}

Result<void*> Context::open_memory(const MemoryHandle& handle) {
  Result<void*> opened = memory_.open(handle);
  if (!opened.ok()) return opened.status().with_context(name());
  return opened;
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
                                     0,
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

Result<std::shared_ptr<DeviceEvent>> Context::mark() {
  if (native_.queue == nullptr) {
    return Status::format(Code::kInvalidUsage, "{}: there is no queue to be ordered after", name());
  }
  Result<ze_event_handle_t> event = events_.take();
  if (!event.ok()) return event.status().with_context(name());
  if (const Status status = enqueue_barrier(*event); !status.ok()) {
    events_.give_back(*event, true);
    return status.with_context(name());
  }
  return std::shared_ptr<DeviceEvent>(std::make_shared<Event>(shared_from_this(), *event));
}

Status Context::enqueue_barrier(ze_event_handle_t event) {
  if (!native_.immediate) return execute(event);
  TUTTI_LEVEL_ZERO_CALL(ze_, zeCommandListAppendBarrier,
                        static_cast<ze_command_list_handle_t>(native_.queue), event, 0, nullptr);
  return {};
}

Result<ze_command_list_handle_t> Context::make_barrier_list(ze_event_handle_t event,
                                                            uint32_t ordinal) {
  const ze_command_list_desc_t desc{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, ordinal, 0};
  ze_command_list_handle_t list = nullptr;
  TUTTI_LEVEL_ZERO_CALL(ze_, zeCommandListCreate, handle(), device_.id, &desc, &list);
  ze_result_t result = ze_.zeCommandListAppendBarrier(list, event, 0, nullptr);
  if (result == ZE_RESULT_SUCCESS) result = ze_.zeCommandListClose(list);
  if (result == ZE_RESULT_SUCCESS) return list;
  ze_.zeCommandListDestroy(list);
  return failed(result, "zeCommandListAppendBarrier");
}

// With a list that is made once for each event. A queue takes lists for its own group alone: which
// one that is, is tried out at first.
Status Context::execute(ze_event_handle_t event) {
  auto* const queue = static_cast<ze_command_queue_handle_t>(native_.queue);
  if (const auto made = barriers_.find(event); made != barriers_.end()) {
    TUTTI_LEVEL_ZERO_CALL(ze_, zeCommandQueueExecuteCommandLists, queue, 1, &made->second, nullptr);
    return {};
  }
  Status status;
  const uint32_t first = queue_ordinal_.value_or(0);
  const uint32_t end = queue_ordinal_ ? first + 1 : device_.queue_groups;
  for (uint32_t ordinal = first; ordinal < end; ++ordinal) {
    Result<ze_command_list_handle_t> list = make_barrier_list(event, ordinal);
    if (!list.ok()) return list.status();
    const ze_result_t result = ze_.zeCommandQueueExecuteCommandLists(queue, 1, &*list, nullptr);
    if (result == ZE_RESULT_SUCCESS) {
      queue_ordinal_ = ordinal;
      barriers_.emplace(event, *list);
      return {};
    }
    ze_.zeCommandListDestroy(*list);
    status = failed(result, "zeCommandQueueExecuteCommandLists");
  }
  return status;
}

Result<std::shared_ptr<SignalledEvent>> Context::make_event() {
  Result<ze_event_handle_t> event = events_.take();
  if (!event.ok()) return event.status().with_context(name());
  return std::shared_ptr<SignalledEvent>(std::make_shared<Event>(shared_from_this(), *event));
}

// Not by zeEventQueryStatus(), which is the same by the specification: without hardware Intel's
// driver only ends events that are waited for.
Result<bool> ended(const Library& ze, ze_event_handle_t event, uint32_t microseconds) {
  const ze_result_t result = ze.zeEventHostSynchronize(event, uint64_t{1000} * microseconds);
  if (result == ZE_RESULT_SUCCESS) return true;
  if (result == ZE_RESULT_NOT_READY) return false;
  return failed(result, "zeEventHostSynchronize");
}

Result<bool> Event::done_within(uint32_t microseconds) {
  if (done_) return true;
  Result<bool> now = ended(context_->ze(), event_, microseconds);
  if (!now.ok()) return now.status().with_context(context_->name());
  if (*now) done_ = true;
  return now;
}

// Level Zero cannot tell the device of an error.
Status Event::signal(const Status&) {
  const ze_result_t result = context_->ze().zeEventHostSignal(event_);
  if (result == ZE_RESULT_SUCCESS) return {};
  return failed(result, "zeEventHostSignal").with_context(context_->name());
}

}  // namespace tutti::devices::level_zero
