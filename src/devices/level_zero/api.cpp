// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Level Zero as an API of devices.
#include "devices/level_zero/context.hpp"

namespace tutti::devices {
namespace level_zero {
namespace {

Status open() {
  const Result<const Inventory*> found = inventory();
  return found.ok() ? Status() : found.status();
}

std::span<const DeviceFacts> devices() {
  const Result<const Inventory*> found = inventory();
  if (!found.ok()) return {};
  return (*found)->facts;
}

Result<std::shared_ptr<DeviceContext>> adopt(const NativeQueue& native) {
  TUTTI_ASSIGN_OR_RETURN(const Inventory* const found, inventory());
  if (native.context == nullptr || native.device == nullptr) {
    return Status::format(Code::kInvalidArgument,
                          "Level Zero: context {}, device {}, queue {}: expected a context and a "
                          "device",
                          native.context, native.device, native.queue);
  }
  for (const Device& device : found->devices) {
    if (device.id != native.device) continue;
    return std::shared_ptr<DeviceContext>(
        std::make_shared<Context>(**open_library(), device, native, false));
  }
  return Status::format(Code::kInvalidArgument,
                        "Level Zero: {} is none of the {} devices of its drivers", native.device,
                        found->devices.size());
}

Result<std::shared_ptr<DeviceContext>> make(int index) {
  TUTTI_ASSIGN_OR_RETURN(const Inventory* const found, inventory());
  const std::vector<Device>& devices = found->devices;
  if (index < 0 || static_cast<size_t>(index) >= devices.size()) {
    return Status::format(Code::kInvalidArgument, "Level Zero device {}: expected 0 to {}", index,
                          devices.size() - 1);
  }
  const Device& device = devices[static_cast<size_t>(index)];
  const Library& ze = **open_library();
  const ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  ze_context_handle_t context = nullptr;
  TUTTI_LEVEL_ZERO_CALL(ze, zeContextCreate, device.driver, &desc, &context);
  const ze_command_queue_desc_t of_list{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                        nullptr,
                                        device.compute_ordinal,
                                        0,
                                        0,
                                        ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
                                        ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  ze_command_list_handle_t list = nullptr;
  const ze_result_t result = ze.zeCommandListCreateImmediate(context, device.id, &of_list, &list);
  if (result != ZE_RESULT_SUCCESS) {
    ze.zeContextDestroy(context);
    return failed(result, "zeCommandListCreateImmediate").with_context(device.facts.name);
  }
  const NativeQueue native{
      .context = context, .device = device.id, .queue = list, .immediate = true};
  return std::shared_ptr<DeviceContext>(std::make_shared<Context>(ze, device, native, true));
}

}  // namespace
}  // namespace level_zero

extern const DeviceApi level_zero_device_api;
constexpr DeviceApi level_zero_device_api = {"level-zero", level_zero::open, level_zero::devices,
                                             level_zero::adopt, level_zero::make};

namespace level_zero {
const DeviceApi& Context::api() const { return level_zero_device_api; }
}  // namespace level_zero

}  // namespace tutti::devices
