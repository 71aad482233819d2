// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "devices/opencl/library.hpp"

#include "core/opened_library.hpp"

namespace tutti::devices::opencl {
namespace {

Status open_into(Library& into) {
  OpenedLibrary library("libOpenCL.so.1");
#define TUTTI_NEED(name) library.need(#name, into.name);
  TUTTI_OPENCL_FUNCTIONS(TUTTI_NEED)
#undef TUTTI_NEED
#define TUTTI_FIND(name) library.find(#name, into.name);
  TUTTI_OPENCL_LATER_FUNCTIONS(TUTTI_FIND)
#undef TUTTI_FIND
  return library.status().with_context("OpenCL");
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
