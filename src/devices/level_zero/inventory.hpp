// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The drivers of Level Zero, their devices that run kernels and the parts of these; all that is
// ever asked of them.
#pragma once

#include <optional>
#include <vector>

#include "devices/device.hpp"
#include "devices/level_zero/library.hpp"

namespace tutti::devices::level_zero {

struct Device {
  ze_driver_handle_t driver = nullptr;
  ze_device_handle_t id = nullptr;
  DeviceFacts facts;
  uint32_t group_size = 1;                 // most work-items of a group
  uint32_t most_groups = 1;                // limit on the groups of a launch
  uint32_t queue_groups = 0;               // number of groups of queues
  uint32_t compute_ordinal = 0;            // the group of queues that run kernels
  uint32_t compute_queue = 0;              // the one of it that is ours
  std::optional<uint32_t> copy_ordinal{};  // group of queues that only copy
};

struct Inventory {
  std::vector<Device> devices;
  std::vector<DeviceFacts> facts;  // of `devices`
};

// Taken at the first call; it stays so.
Result<const Inventory*> inventory();
// The device of that handle; null if there is none.
const Device* find_device(ze_device_handle_t id);
// Whether a device reaches what lies in the memory of another.
bool reaches(const Library& ze, const Device& device, const Device& other);

}  // namespace tutti::devices::level_zero
