// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "devices/opencl/inventory.hpp"

#include <algorithm>
#include <string>

#include "core/log.hpp"
#include "kernels/device/modules.hpp"

namespace tutti::devices::opencl {
namespace {

bool has_word(const std::string& list, const std::string& word) {
  return (" " + list + " ").find(" " + word + " ") != std::string::npos;
}

template <typename Function>
void find(const Library& cl, cl_platform_id platform, const char* name, Function& function) {
  function =
      reinterpret_cast<Function>(cl.clGetExtensionFunctionAddressForPlatform(platform, name));
}

UsmFunctions usm_functions(const Library& cl, cl_platform_id platform) {
  UsmFunctions usm;
  find(cl, platform, "clHostMemAllocINTEL", usm.host_alloc);
  find(cl, platform, "clDeviceMemAllocINTEL", usm.device_alloc);
  find(cl, platform, "clMemFreeINTEL", usm.free);
  find(cl, platform, "clGetMemAllocInfoINTEL", usm.info);
  find(cl, platform, "clSetKernelArgMemPointerINTEL", usm.set_argument);
  find(cl, platform, "clEnqueueMemcpyINTEL", usm.copy);
  return usm;
}

std::vector<cl_platform_id> platforms(const Library& cl) {
  cl_uint count = 0;
  if (cl.clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS) return {};
  std::vector<cl_platform_id> found(count);
  if (count == 0 || cl.clGetPlatformIDs(count, found.data(), nullptr) != CL_SUCCESS) return {};
  return found;
}

std::vector<cl_device_id> devices_of(const Library& cl, cl_platform_id platform) {
  cl_uint count = 0;
  if (cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) return {};
  std::vector<cl_device_id> found(count);
  if (count == 0 ||
      cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, found.data(), nullptr) != CL_SUCCESS) {
    return {};
  }
  return found;
}

Result<Inventory> take() {
  TUTTI_ASSIGN_OR_RETURN(const Library* library, open_library());
  const Library& cl = *library;
  Inventory found;
  std::string why = "no driver has a device";
  for (cl_platform_id const platform : platforms(cl)) {
    for (cl_device_id const id : devices_of(cl, platform)) {
      Result<Device> device = describe(cl, platform, id);
      if (device.ok()) {
        found.devices.push_back(*std::move(device));
      } else {
        why = device.status().message();
        log::info("{}", why);
      }
    }
  }
  if (found.devices.empty()) return Status::format(Code::kUnsupported, "OpenCL: {}", why);
  std::ranges::stable_sort(found.devices, {}, [&](const Device& device) {
    return value_of<cl_device_type>(cl, device.id, CL_DEVICE_TYPE) == CL_DEVICE_TYPE_CPU ? 1 : 0;
  });
  for (Device& device : found.devices) {
    device.facts.index = static_cast<int>(found.facts.size());
    found.facts.push_back(device.facts);
  }
  return found;
}

}  // namespace

Result<Device> describe(const Library& cl, cl_platform_id platform, cl_device_id id) {
  Device device{.platform = platform, .id = id, .facts = {}, .usm_functions = {}};
  DeviceFacts& facts = device.facts;
  facts.name = text_of(cl, id, CL_DEVICE_NAME);
  facts.driver =
      text_of(cl, platform, CL_PLATFORM_VERSION) + ", " + text_of(cl, id, CL_DRIVER_VERSION);
  facts.memory_bytes = value_of<cl_ulong>(cl, id, CL_DEVICE_GLOBAL_MEM_SIZE);
  facts.vendor_id = value_of<cl_uint>(cl, id, CL_DEVICE_VENDOR_ID);
  const std::string extensions = text_of(cl, id, CL_DEVICE_EXTENSIONS);
  facts.fp64 = has_word(extensions, "cl_khr_fp64");
  if (has_word(extensions, "cl_intel_unified_shared_memory")) {
    device.usm_functions = usm_functions(cl, platform);
    device.usm = device.usm_functions.complete();
  }
  const auto svm = value_of<cl_device_svm_capabilities>(cl, id, CL_DEVICE_SVM_CAPABILITIES);
  const bool has_svm = (svm & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) != 0 && cl.clSVMAlloc != nullptr &&
                       cl.clSVMFree != nullptr && cl.clEnqueueSVMMemcpy != nullptr &&
                       cl.clSetKernelArgSVMPointer != nullptr;
  if (!device.usm && !has_svm) {
    return Status::format(
        Code::kUnsupported,
        "OpenCL device {} takes no pointers: it has neither unified shared memory "
        "nor shared virtual memory",
        facts.name);
  }
  if (value_of<cl_bool>(cl, id, CL_DEVICE_AVAILABLE) == CL_FALSE) {
    return Status::format(Code::kUnsupported, "OpenCL device {} is not available", facts.name);
  }
  facts.tells_place = device.usm;
  device.takes_spirv = text_of(cl, id, CL_DEVICE_IL_VERSION).find("SPIR-V") != std::string::npos &&
                       cl.clCreateProgramWithIL != nullptr &&
                       !device_spirv(DataType::kFloat32, DeviceVariant::kVector).empty();
  const bool compiles = value_of<cl_bool>(cl, id, CL_DEVICE_COMPILER_AVAILABLE) != CL_FALSE;
  facts.kernels = device.takes_spirv ? "SPIR-V" : compiles ? "source" : "";
  return device;
}

Result<const Inventory*> inventory() {
  static const Result<Inventory> found = take();
  if (!found.ok()) return found.status();
  return &*found;
}

}  // namespace tutti::devices::opencl
