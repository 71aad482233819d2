// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A device on which calls are measured: a queue, a view of the communicator on it, and buffers.
#pragma once

#include <tutti/tutti.h>

#include <memory>
#include <string>
#include <string_view>

#include "core/status.hpp"

namespace tutti::devices {
struct DeviceApi;
class DeviceContext;
class DeviceEngine;
}  // namespace tutti::devices

namespace tutti::bench {

// The names in the registry: "opencl, level-zero".
std::string known_apis();
// The API of that name.
Result<const devices::DeviceApi*> find_api(std::string_view name);
// A context and a queue on the device of that index of an API, as `tutti info` lists them.
Result<std::shared_ptr<devices::DeviceContext>> open_device(std::string_view api, int index);
// Submits what the engine was given, and waits until all has ended.
Status finish(devices::DeviceEngine& engine, const devices::DeviceContext& context);

class Device {
 public:
  // Opens a device like open_device(), and a view of `comm` on it.
  static Result<std::unique_ptr<Device>> open(std::string_view api, int index, tutti_comm_t comm);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] tutti_comm_t view() const { return view_; }
  [[nodiscard]] std::string name() const;
  // Throws std::bad_alloc.
  void* allocate(size_t bytes);
  void free(void* memory);
  // One of the two is on the device. Waits for the end; throws std::runtime_error.
  void copy(void* dst, const void* source, size_t bytes);

 private:
  Device() = default;
  Status make_view(tutti_comm_t comm);

  std::shared_ptr<devices::DeviceContext> context_;
  std::unique_ptr<devices::DeviceEngine> engine_;
  tutti_comm_t view_ = nullptr;
};

}  // namespace tutti::bench
