// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "devices/level_zero/library.hpp"

#include "core/opened_library.hpp"

namespace tutti::devices::level_zero {
namespace {

Status open_into(Library& into) {
  OpenedLibrary library("libze_loader.so.1");
#define TUTTI_NEED(name) library.need(#name, into.name);
  TUTTI_LEVEL_ZERO_FUNCTIONS(TUTTI_NEED)
#undef TUTTI_NEED
  return library.status().with_context("Level Zero");
}

struct Meaning {
  ze_result_t result;
  std::string_view text;
};
constexpr Meaning kMeanings[] = {
    {ZE_RESULT_NOT_READY, "not ready"},
    {ZE_RESULT_ERROR_DEVICE_LOST, "the device is lost"},
    {ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "out of host memory"},
    {ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "out of device memory"},
    {ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, "the module cannot be built"},
    {ZE_RESULT_ERROR_MODULE_LINK_FAILURE, "the module cannot be linked"},
    {ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET, "the device needs a reset"},
    {ZE_RESULT_ERROR_DEVICE_IN_LOW_POWER_STATE, "the device is in a low power state"},
    {ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS, "not permitted"},
    {ZE_RESULT_ERROR_NOT_AVAILABLE, "not available"},
    {ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, "something that it depends on is missing"},
    {ZE_RESULT_ERROR_UNINITIALIZED, "the driver is not initialised"},
    {ZE_RESULT_ERROR_UNSUPPORTED_VERSION, "the version is not supported"},
    {ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "not supported"},
    {ZE_RESULT_ERROR_INVALID_ARGUMENT, "invalid argument"},
    {ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "a handle is null"},
    {ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "the object is in use"},
    {ZE_RESULT_ERROR_INVALID_NULL_POINTER, "a pointer is null"},
    {ZE_RESULT_ERROR_INVALID_SIZE, "invalid size"},
    {ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "the size is not supported"},
    {ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, "the binary is not of this driver"},
    {ZE_RESULT_ERROR_INVALID_KERNEL_NAME, "no such kernel"},
    {ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE, "not on this kind of command list"},
    {ZE_RESULT_ERROR_UNKNOWN, "unknown error"},
};

}  // namespace

Result<const Library*> open_library() {
  static Library library;
  static const Status opened = open_into(library);
  if (!opened.ok()) return opened;
  return &library;
}

Status failed(ze_result_t result, std::string_view function) {
  std::string_view text = "error";
  for (const Meaning& known : kMeanings) {
    if (known.result == result) text = known.text;
  }
  const bool memory = result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY ||
                      result == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  return Status::format(memory ? Code::kOutOfMemory : Code::kSystem, "{}: {} ({:#x})", function,
                        text, static_cast<unsigned>(result));
}

}  // namespace tutti::devices::level_zero
