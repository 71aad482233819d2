// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "devices/opencl/library.hpp"

#include <dlfcn.h>

#include <mutex>
#include <vector>

#include "core/symbol.hpp"

namespace tutti::devices::opencl {
namespace {

constexpr const char* kFile = "libOpenCL.so.1";

Status open_into(Library& into) {
  void* const library = dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Status::format(Code::kUnsupported, "OpenCL: cannot open {}: {}", kFile, dlerror());
  }
#define TUTTI_FIND(name)                                                                     \
  if (!find_symbol(library, #name, into.name)) {                                             \
    return Status::format(Code::kUnsupported, "OpenCL: {} has no {}, which version 1.2 has", \
                          kFile, #name);                                                     \
  }
  TUTTI_OPENCL_FUNCTIONS(TUTTI_FIND)
#undef TUTTI_FIND
#define TUTTI_FIND(name) find_symbol(library, #name, into.name);
  TUTTI_OPENCL_LATER_FUNCTIONS(TUTTI_FIND)
#undef TUTTI_FIND
  return {};
}

struct Name {
  cl_int error;
  std::string_view text;
};
constexpr Name kNames[] = {
    {CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND"},
    {CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
    {CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE"},
    {CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    {CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
    {CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
    {CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
    {CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    {CL_INVALID_VALUE, "CL_INVALID_VALUE"},
    {CL_INVALID_DEVICE, "CL_INVALID_DEVICE"},
    {CL_INVALID_CONTEXT, "CL_INVALID_CONTEXT"},
    {CL_INVALID_COMMAND_QUEUE, "CL_INVALID_COMMAND_QUEUE"},
    {CL_INVALID_BINARY, "CL_INVALID_BINARY"},
    {CL_INVALID_OPERATION, "CL_INVALID_OPERATION"},
    {CL_PLATFORM_NOT_FOUND_KHR, "CL_PLATFORM_NOT_FOUND_KHR"},
};

template <typename Ask>
std::string text_by(const Ask& ask) {
  size_t bytes = 0;
  if (ask(0, nullptr, &bytes) != CL_SUCCESS || bytes == 0) return "";
  std::string text(bytes, '\0');
  if (ask(bytes, text.data(), nullptr) != CL_SUCCESS) return "";
  text.resize(text.find_last_not_of(std::string("\0 ", 2)) + 1);
  return text;
}

}  // namespace

Result<const Library*> open_library() {
  static Library library;
  static const Status opened = open_into(library);
  if (!opened.ok()) return opened;
  return &library;
}

Status failed(cl_int error, std::string_view function) {
  std::string_view name = "error";
  for (const Name& known : kNames) {
    if (known.error == error) name = known.text;
  }
  const bool memory = error == CL_OUT_OF_HOST_MEMORY || error == CL_OUT_OF_RESOURCES ||
                      error == CL_MEM_OBJECT_ALLOCATION_FAILURE;
  return Status::format(memory ? Code::kOutOfMemory : Code::kSystem, "{}: {} ({})", function, name,
                        error);
}

std::string text_of(const Library& cl, cl_platform_id platform, cl_platform_info what) {
  return text_by([&](size_t bytes, void* to, size_t* length) {
    return cl.clGetPlatformInfo(platform, what, bytes, to, length);
  });
}

std::string text_of(const Library& cl, cl_device_id device, cl_device_info what) {
  return text_by([&](size_t bytes, void* to, size_t* length) {
    return cl.clGetDeviceInfo(device, what, bytes, to, length);
  });
}

}  // namespace tutti::devices::opencl
