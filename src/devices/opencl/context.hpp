// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// An OpenCL context with one of its devices: memory, events, programs.
#pragma once

#include <map>
#include <mutex>
#include <utility>

#include "devices/device.hpp"
#include "devices/opencl/inventory.hpp"
#include "kernels/device/modules.hpp"

namespace tutti::devices::opencl {

class Context : public DeviceContext, public std::enable_shared_from_this<Context> {
 public:
  // `owns`: the handles of `native` go with it.
  Context(const Library& cl, Device device, const NativeQueue& native, bool owns);
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
  Result<MemoryHandle> export_memory(void* base) override;
  Result<void*> open_memory(const MemoryHandle& handle) override;
  Status close_memory(void* opened) override;

  [[nodiscard]] const Library& cl() const { return cl_; }
  [[nodiscard]] const Device& device() const { return device_; }
  [[nodiscard]] cl_context handle() const { return static_cast<cl_context>(native_.context); }
  // Compiled at its first use, or taken from the user's cache. Any thread.
  Result<cl_program> program(DataType type, DeviceVariant variant);

 private:
  [[nodiscard]] Result<MemoryPlace> usm_place(const void* pointer) const;

  const Library& cl_;
  const Device device_;
  const NativeQueue native_;
  const bool owns_;
  std::mutex mutex_;
  std::map<std::pair<DataType, DeviceVariant>, Result<cl_program>> programs_;  // guarded by mutex_
};

// The event of a command, or the user's event that Tutti signals.
class Event : public SignalledEvent {
 public:
  Event(const Library& cl, cl_event event) : cl_(cl), event_(event) {}
  ~Event() override { cl_.clReleaseEvent(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  Result<bool> done_within(Patience patience) override;
  [[nodiscard]] void* native() const override { return event_; }
  Status signal(const Status& outcome) override;

 private:
  const Library& cl_;
  cl_event const event_;
};

// Whether the command has ended; an error if it has failed.
Result<bool> ended(const Library& cl, cl_event event);

// In the user's cache or new.
Result<cl_program> build_program(const Context& context, DataType type, DeviceVariant variant);

}  // namespace tutti::devices::opencl
