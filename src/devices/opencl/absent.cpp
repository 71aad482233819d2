// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Instead of the other files here, where the build had no headers of OpenCL.
#include "devices/device.hpp"

namespace tutti::devices {
namespace {

Status open() {
  return {Code::kUnsupported, "OpenCL: Tutti was built without its headers (CL/cl.h)"};
}
std::span<const DeviceFacts> devices() { return {}; }
Result<std::shared_ptr<DeviceContext>> adopt(const NativeQueue&) { return open(); }
Result<std::shared_ptr<DeviceContext>> make(int) { return open(); }

}  // namespace

extern const DeviceApi opencl_device_api;
constexpr DeviceApi opencl_device_api = {"opencl", open, devices, adopt, make};

}  // namespace tutti::devices
