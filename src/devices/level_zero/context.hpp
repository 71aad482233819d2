// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A context of Level Zero with one of its devices.
#pragma once

#include <atomic>
#include <map>
#include <utility>

#include "devices/level_zero/barrier_lists.hpp"
#include "devices/level_zero/events.hpp"
#include "devices/level_zero/memory.hpp"
#include "kernels/device/modules.hpp"

namespace tutti::devices::level_zero {

class Context : public DeviceContext, public std::enable_shared_from_this<Context> {
 public:
  // `owns`: the handles of `native` go with it. `device` outlives it.
  Context(const Library& ze, const Device& device, const NativeQueue& native, bool owns);
  ~Context() override;

  [[nodiscard]] const DeviceApi& api() const override;
  [[nodiscard]] const DeviceFacts& facts() const override { return device_.facts; }
  [[nodiscard]] const NativeQueue& native() const override { return native_; }
  Result<MemoryPlace> place_of(const void* pointer) override;
  Result<void*> allocate(MemoryKind kind, size_t bytes) override;
  Status free(void* memory) override;
  Result<std::unique_ptr<DeviceEngine>> make_engine(EngineKind kind) override;
  Result<std::shared_ptr<DeviceEvent>> add_marker() override;
  Result<std::shared_ptr<SignalledEvent>> make_event() override;
  [[nodiscard]] bool reaches(const DeviceUuid& other) const override;
  Result<MemoryHandle> export_memory(void* base) override;
  Result<void*> open_memory(const MemoryHandle& handle) override;
  Status close_memory(void* opened) override;

  [[nodiscard]] const Library& ze() const { return ze_; }
  [[nodiscard]] const Device& device() const { return device_; }
  [[nodiscard]] ze_context_handle_t handle() const {
    return static_cast<ze_context_handle_t>(native_.context);
  }
  // The memory to which a pointer led when it was last asked about (Memory::remembered).
  Result<MemoryPlace> remembered(const void* pointer) { return named(memory_.remembered(pointer)); }
  // An error gets the context's name before it.
  template <typename T>
  Result<T> named(Result<T> result) const {
    if (!result.ok()) return result.status().with_context(name());
    return result;
  }
  Events& events() { return events_; }
  // Compiled at its first use, or taken from the user's cache. Any thread.
  Result<ze_module_handle_t> module(DataType type, DeviceVariant variant);
  // Something runs on the device that does not end: what it may use is left to the process.
  void abandon();

 private:
  Status enqueue_barrier(ze_event_handle_t event);
  [[nodiscard]] bool ask_for(const DeviceUuid& other) const;
  bool marks_come_to_rest();

  const Library& ze_;
  const Device& device_;
  const NativeQueue native_;
  const bool owns_;
  std::atomic<bool> abandoned_{false};
  Memory memory_;
  Events events_;
  BarrierLists barriers_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::pair<DataType, DeviceVariant>, Result<ze_module_handle_t>> modules_;
  mutable std::map<DeviceUuid, bool> reached_;  // the driver's answers; guarded by mutex_
};

// An event of the application's queue, or one that Tutti signals.
class Event : public SignalledEvent {
 public:
  Event(std::shared_ptr<Context> context, ze_event_handle_t event, bool is_mark)
      : context_(std::move(context)), event_(event), is_mark_(is_mark) {}
  ~Event() override;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  Result<bool> done_within(Patience patience) override;
  [[nodiscard]] void* native() const override { return event_; }
  Status signal(const Status& outcome) override;

 private:
  const std::shared_ptr<Context> context_;
  ze_event_handle_t const event_;
  const bool is_mark_;
  std::atomic<bool> done_{false};
};

// Whether it is signalled, at once or after so long at most.
Result<bool> ended(const Library& ze, ze_event_handle_t event, Patience patience = {});

// A module from the user's cache, or a new one.
Result<ze_module_handle_t> build_module(const Context& context, DataType type,
                                        DeviceVariant variant);

}  // namespace tutti::devices::level_zero
