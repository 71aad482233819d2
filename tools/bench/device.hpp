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
class DeviceContext;
class DeviceEngine;
}  // namespace tutti::devices

namespace tutti::bench {

class Device {
 public:
  // The device of that index of an API, as `tutti info` lists them; and a view of `comm`.
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
