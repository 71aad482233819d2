// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// OpenCL as an API of devices.
#include "devices/opencl/context.hpp"

namespace tutti::devices {
namespace opencl {
namespace {

Status open() { return inventory().status(); }

std::span<const DeviceFacts> devices() {
  const Result<const Inventory*> found = inventory();
  if (!found.ok()) return {};
  return (*found)->facts;
}

// Completes the handles by what the queue belongs to: given ones must be the same, and may be left
// out.
Status complete(const Library& cl, NativeQueue& native) {
  if (native.queue == nullptr) return {};
  auto* const queue = static_cast<cl_command_queue>(native.queue);
  cl_context context = nullptr;
  cl_device_id device = nullptr;
  cl_int error =
      cl.clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, nullptr);
  if (error == CL_SUCCESS) {
    error = cl.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, nullptr);
  }
  if (error != CL_SUCCESS) return failed(error, "clGetCommandQueueInfo");
  if (native.context != nullptr && native.context != context) {
    return Status::format(Code::kInvalidArgument,
                          "OpenCL queue {}: belongs to context {}, not to the given context {}",
                          native.queue, fmt::ptr(context), native.context);
  }
  if (native.device != nullptr && native.device != device) {
    return Status::format(Code::kInvalidArgument,
                          "OpenCL queue {}: is of device {} ({}), not of the given device {} ({})",
                          native.queue, fmt::ptr(device), text_of(cl, device, CL_DEVICE_NAME),
                          native.device,
                          text_of(cl, static_cast<cl_device_id>(native.device), CL_DEVICE_NAME));
  }
  native.context = context;
  native.device = device;
  return {};
}

Result<std::shared_ptr<DeviceContext>> adopt(const NativeQueue& given) {
  TUTTI_ASSIGN_OR_RETURN(const Inventory* const found, inventory());
  const Library& cl = **open_library();
  NativeQueue native = given;
  TUTTI_RETURN_IF_ERROR(complete(cl, native));
  if (native.context == nullptr || native.device == nullptr) {
    return Status::format(Code::kInvalidArgument,
                          "OpenCL: context {}, device {}, queue {}: expected a queue, or a context "
                          "and a device",
                          native.context, native.device, native.queue);
  }
  for (const Device& device : found->devices) {
    if (device.id != native.device) continue;
    return std::shared_ptr<DeviceContext>(std::make_shared<Context>(cl, device, native, false));
  }
  // A part of a device, that the application has made.
  auto* const id = static_cast<cl_device_id>(native.device);
  TUTTI_ASSIGN_OR_RETURN(Device part,
                         describe(cl, value_of<cl_platform_id>(cl, id, CL_DEVICE_PLATFORM), id));
  part.facts.index = -1;
  return std::shared_ptr<DeviceContext>(
      std::make_shared<Context>(cl, std::move(part), native, false));
}

Result<std::shared_ptr<DeviceContext>> make(int index) {
  TUTTI_ASSIGN_OR_RETURN(const Inventory* const found, inventory());
  const std::vector<Device>& devices = found->devices;
  if (index < 0 || static_cast<size_t>(index) >= devices.size()) {
    return Status::format(Code::kInvalidArgument, "OpenCL device {}: expected 0 to {}", index,
                          devices.size() - 1);
  }
  const Device& device = devices[static_cast<size_t>(index)];
  const Library& cl = **open_library();
  const cl_context_properties properties[] = {
      CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(device.platform), 0};
  cl_int error = CL_SUCCESS;
  cl_context const context =
      cl.clCreateContext(properties, 1, &device.id, nullptr, nullptr, &error);
  if (error != CL_SUCCESS) return failed(error, "clCreateContext").with_context(device.facts.name);
  cl_command_queue const queue = cl.clCreateCommandQueue(context, device.id, 0, &error);
  if (error != CL_SUCCESS) {
    cl.clReleaseContext(context);
    return failed(error, "clCreateCommandQueue").with_context(device.facts.name);
  }
  const NativeQueue native{.context = context, .device = device.id, .queue = queue};
  return std::shared_ptr<DeviceContext>(std::make_shared<Context>(cl, device, native, true));
}

}  // namespace
}  // namespace opencl

extern const DeviceApi opencl_device_api;
constexpr DeviceApi opencl_device_api = {"opencl", opencl::open, opencl::devices, opencl::adopt,
                                         opencl::make};

namespace opencl {
const DeviceApi& Context::api() const { return opencl_device_api; }
}  // namespace opencl

}  // namespace tutti::devices
