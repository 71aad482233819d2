// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// libOpenCL.so.1, opened at run time, and its functions under their own names.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <string>
#include <string_view>

#include "core/status.hpp"

// The functions that every version from 1.2 on has.
// clang-format off
#define TUTTI_OPENCL_FUNCTIONS(apply)                                                             \
  apply(clGetPlatformIDs) apply(clGetPlatformInfo) apply(clGetDeviceIDs) apply(clGetDeviceInfo)   \
  apply(clCreateContext) apply(clRetainContext) apply(clReleaseContext)                           \
  apply(clCreateCommandQueue) apply(clReleaseCommandQueue) apply(clGetCommandQueueInfo)           \
  apply(clCreateProgramWithSource) apply(clCreateProgramWithBinary) apply(clBuildProgram)         \
  apply(clReleaseProgram) apply(clGetProgramInfo) apply(clGetProgramBuildInfo)                    \
  apply(clCreateKernel) apply(clReleaseKernel) apply(clSetKernelArg)                              \
  apply(clEnqueueNDRangeKernel) apply(clEnqueueMarkerWithWaitList)                                \
  apply(clEnqueueBarrierWithWaitList) apply(clFlush) apply(clFinish) apply(clCreateUserEvent)     \
  apply(clSetUserEventStatus) apply(clReleaseEvent) apply(clGetEventInfo)                         \
  apply(clGetKernelWorkGroupInfo) apply(clGetExtensionFunctionAddressForPlatform)
// clang-format on
// The functions of 2.0 and 2.1, which are null where the library has none.
#define TUTTI_OPENCL_LATER_FUNCTIONS(apply)                                                    \
  apply(clSVMAlloc) apply(clSVMFree) apply(clEnqueueSVMMemcpy) apply(clSetKernelArgSVMPointer) \
      apply(clCreateProgramWithIL)

namespace tutti::devices::opencl {

struct Library {
#define TUTTI_DECLARE(name) decltype(&::name) name = nullptr;
  TUTTI_OPENCL_FUNCTIONS(TUTTI_DECLARE)
  TUTTI_OPENCL_LATER_FUNCTIONS(TUTTI_DECLARE)
#undef TUTTI_DECLARE
};

// Opened at the first call; it stays so. The error is one line.
Result<const Library*> open_library();

// "clBuildProgram: CL_BUILD_PROGRAM_FAILURE (-11)"; kOutOfMemory or kSystem.
Status failed(cl_int error, std::string_view function);

// The text of a platform, a device or a build.
std::string text_of(const Library& cl, cl_platform_id platform, cl_platform_info what);
std::string text_of(const Library& cl, cl_device_id device, cl_device_info what);

// A number or handle of a device; `otherwise` if it does not tell.
template <typename T>
T value_of(const Library& cl, cl_device_id device, cl_device_info what, T otherwise = T{}) {
  T value{};
  return cl.clGetDeviceInfo(device, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value
                                                                                       : otherwise;
}

}  // namespace tutti::devices::opencl
