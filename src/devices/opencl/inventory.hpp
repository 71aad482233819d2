// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The devices of all OpenCL drivers that take pointers. They do by unified shared memory (USM), an
// extension of Intel's, or by shared virtual memory (SVM), of OpenCL 2.0.
#pragma once

#include <vector>

#include "devices/device.hpp"
#include "devices/opencl/library.hpp"

namespace tutti::devices::opencl {

// The functions of cl_intel_unified_shared_memory; null where a platform lacks it.
struct UsmFunctions {
  clHostMemAllocINTEL_fn host_alloc = nullptr;
  clDeviceMemAllocINTEL_fn device_alloc = nullptr;
  clMemFreeINTEL_fn free = nullptr;
  clGetMemAllocInfoINTEL_fn info = nullptr;
  clSetKernelArgMemPointerINTEL_fn set_argument = nullptr;
  clEnqueueMemcpyINTEL_fn copy = nullptr;
  [[nodiscard]] bool complete() const {
    return host_alloc != nullptr && device_alloc != nullptr && free != nullptr && info != nullptr &&
           set_argument != nullptr && copy != nullptr;
  }
};

struct Device {
  cl_platform_id platform = nullptr;
  cl_device_id id = nullptr;
  DeviceFacts facts;
  bool usm = false;  // unified shared memory; false: SVM
  bool takes_spirv = false;
  UsmFunctions usm_functions;
};

// The known facts of a device, or why it is of no use.
Result<Device> describe(const Library& cl, cl_platform_id platform, cl_device_id id);

struct Inventory {
  std::vector<Device> devices;  // GPUs and accelerators first
  std::vector<DeviceFacts> facts;
};
// Found at the first call.
Result<const Inventory*> inventory();

}  // namespace tutti::devices::opencl
