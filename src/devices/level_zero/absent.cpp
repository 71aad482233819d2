// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Instead of the other files here, where the build had no headers of Level Zero.
#include "devices/device.hpp"

namespace tutti::devices {
namespace {

Status open() {
  return {Code::kUnsupported,
          "Level Zero: Tutti was built without its headers (level_zero/ze_api.h)"};
}
std::span<const DeviceFacts> devices() { return {}; }
Result<std::shared_ptr<DeviceContext>> adopt(const NativeQueue&) { return open(); }
Result<std::shared_ptr<DeviceContext>> make(int) { return open(); }

}  // namespace

extern const DeviceApi level_zero_device_api;
constexpr DeviceApi level_zero_device_api = {"level-zero", open, devices, adopt, make};

}  // namespace tutti::devices
