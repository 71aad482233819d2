// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#define CL_TARGET_OPENCL_VERSION 200
#include "support/level_zero/pocl.hpp"

#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <dlfcn.h>

#include <cstdlib>
#include <map>
#include <mutex>

#include "support/level_zero/bitcode.hpp"

namespace tutti_test::ze {

class Program {
 public:
  explicit Program(cl_program program_) : program(program_) {}
  const cl_program program;
  std::map<std::string, cl_kernel> kernels;
};

namespace {

// Opened by its own name, so that no other driver of OpenCL is started. Never closed.
struct Pocl {
  std::mutex mutex;
  const cl_icd_dispatch* calls = nullptr;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  std::map<std::string, std::shared_ptr<Program>> programs;  // by content

  bool open();
};

bool Pocl::open() {
  if (queue) return true;
  setenv("POCL_DEVICES", "basic", 0);  // runs kernels in the calling thread
  void* library = dlopen("libpocl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
  const auto find =
      reinterpret_cast<void* (*)(const char*)>(dlsym(library, "clGetExtensionFunctionAddress"));
  const auto get =
      find ? reinterpret_cast<clIcdGetPlatformIDsKHR_fn>(find("clIcdGetPlatformIDsKHR")) : nullptr;
  cl_platform_id platform = nullptr;
  if (!get || get(1, &platform, nullptr) != CL_SUCCESS) return false;
  // A platform begins with the table of the driver's functions.
  calls = *reinterpret_cast<cl_icd_dispatch**>(platform);
  if (calls->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) {
    return false;
  }
  context = calls->clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  queue = context ? calls->clCreateCommandQueue(context, device, 0, nullptr) : nullptr;
  return queue != nullptr;
}

Pocl& pocl() {
  static auto* const one = new Pocl;
  return *one;
}

std::string log_of(Pocl& cl, cl_program program) {
  size_t bytes = 0;
  cl.calls->clGetProgramBuildInfo(program, cl.device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes);
  std::string log(bytes, '\0');
  cl.calls->clGetProgramBuildInfo(program, cl.device, CL_PROGRAM_BUILD_LOG, bytes, log.data(),
                                  nullptr);
  return log;
}

std::shared_ptr<Program> build(Pocl& cl, std::span<const uint8_t> spirv, std::string* why) {
  const std::vector<uint8_t> bitcode = bitcode_of(spirv, why);
  if (bitcode.empty()) return nullptr;
  const unsigned char* bytes = bitcode.data();
  const size_t length = bitcode.size();
  cl_int error = CL_SUCCESS;
  cl_program program = cl.calls->clCreateProgramWithBinary(cl.context, 1, &cl.device, &length,
                                                           &bytes, nullptr, &error);
  if (error == CL_SUCCESS) {
    error =
        cl.calls->clBuildProgram(program, 1, &cl.device, "-x spir -spir-std=1.2", nullptr, nullptr);
  }
  if (error == CL_SUCCESS) return std::make_shared<Program>(program);
  *why = "PoCL does not build the module: " + (program ? log_of(cl, program) : std::string());
  return nullptr;
}

cl_kernel kernel_of(Pocl& cl, Program& program, const std::string& name) {
  cl_kernel& kernel = program.kernels[name];
  if (!kernel) kernel = cl.calls->clCreateKernel(program.program, name.c_str(), nullptr);
  return kernel;
}

bool set_argument(Pocl& cl, cl_kernel kernel, cl_uint index, const Argument& argument) {
  switch (argument.kind) {
    case Argument::Kind::kValue:
      return cl.calls->clSetKernelArg(kernel, index, argument.value.size(),
                                      argument.value.data()) == CL_SUCCESS;
    case Argument::Kind::kPointer:
      return cl.calls->clSetKernelArgSVMPointer(kernel, index, argument.pointer) == CL_SUCCESS;
    case Argument::Kind::kLocal:
      return cl.calls->clSetKernelArg(kernel, index, argument.local_bytes, nullptr) == CL_SUCCESS;
    case Argument::Kind::kUnset: return false;
  }
  return false;
}

}  // namespace

std::shared_ptr<Program> build_program(std::span<const uint8_t> spirv, std::string* why) {
  Pocl& cl = pocl();
  const std::lock_guard lock(cl.mutex);
  if (!cl.open()) {
    *why = "PoCL (libpocl.so.2) cannot be opened";
    return nullptr;
  }
  const std::string content(reinterpret_cast<const char*>(spirv.data()), spirv.size());
  std::shared_ptr<Program>& program = cl.programs[content];
  if (!program) program = build(cl, spirv, why);
  return program;
}

bool has_kernel(Program& program, const std::string& name) {
  Pocl& cl = pocl();
  const std::lock_guard lock(cl.mutex);
  return kernel_of(cl, program, name) != nullptr;
}

bool run_kernel(Program& program, const Launch& launch) {
  Pocl& cl = pocl();
  const std::lock_guard lock(cl.mutex);
  cl_kernel kernel = kernel_of(cl, program, launch.kernel);
  for (size_t i = 0; i < launch.arguments.size(); i++) {
    if (!set_argument(cl, kernel, static_cast<cl_uint>(i), launch.arguments[i])) return false;
  }
  size_t items[3];
  for (size_t i = 0; i < 3; i++) items[i] = launch.groups[i] * launch.size[i];
  const cl_int launched = cl.calls->clEnqueueNDRangeKernel(cl.queue, kernel, 3, nullptr, items,
                                                           launch.size.data(), 0, nullptr, nullptr);
  return launched == CL_SUCCESS && cl.calls->clFinish(cl.queue) == CL_SUCCESS;
}

}  // namespace tutti_test::ze
