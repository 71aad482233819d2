// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// libze_loader.so.1, opened at run time, and its functions under their own names.
#pragma once

#include <level_zero/ze_api.h>

#include <string_view>

#include "core/status.hpp"

// clang-format off
#define TUTTI_LEVEL_ZERO_FUNCTIONS(apply)                                                         \
  apply(zeInit) apply(zeDriverGet) apply(zeDriverGetProperties) apply(zeDriverGetIpcProperties)   \
  apply(zeDeviceGet) apply(zeDeviceGetSubDevices) apply(zeDeviceGetProperties)                    \
  apply(zeDeviceGetModuleProperties) apply(zeDeviceGetComputeProperties)                          \
  apply(zeDeviceGetMemoryProperties) apply(zeDeviceCanAccessPeer)                                 \
  apply(zeDeviceGetCommandQueueGroupProperties) apply(zeContextCreate) apply(zeContextDestroy)    \
  apply(zeMemAllocDevice) apply(zeMemAllocHost) apply(zeMemFree) apply(zeMemGetAllocProperties)   \
  apply(zeMemGetAddressRange) apply(zeMemGetIpcHandle) apply(zeMemOpenIpcHandle)                  \
  apply(zeMemCloseIpcHandle) apply(zeEventPoolCreate) apply(zeEventPoolDestroy)                   \
  apply(zeEventCreate) apply(zeEventDestroy) apply(zeEventHostSignal) apply(zeEventHostReset)     \
  apply(zeEventHostSynchronize) apply(zeFenceCreate) apply(zeFenceDestroy)                        \
  apply(zeFenceHostSynchronize) apply(zeFenceReset) apply(zeCommandListCreate)                    \
  apply(zeCommandListCreateImmediate) apply(zeCommandListDestroy) apply(zeCommandListClose)       \
  apply(zeCommandListAppendBarrier) apply(zeCommandListAppendMemoryCopy)                          \
  apply(zeCommandListAppendLaunchKernel) apply(zeCommandQueueExecuteCommandLists)                 \
  apply(zeModuleCreate) apply(zeModuleDestroy) apply(zeModuleGetNativeBinary)                     \
  apply(zeModuleBuildLogGetString) apply(zeModuleBuildLogDestroy) apply(zeKernelCreate)           \
  apply(zeKernelDestroy) apply(zeKernelSetGroupSize) apply(zeKernelSetArgumentValue)
// clang-format on

namespace tutti::devices::level_zero {

struct Library {
#define TUTTI_DECLARE(name) decltype(&::name) name = nullptr;
  TUTTI_LEVEL_ZERO_FUNCTIONS(TUTTI_DECLARE)
#undef TUTTI_DECLARE
};

// Opened at the first call; it stays so. The error is one line.
Result<const Library*> open_library();

// "zeMemAllocDevice: out of device memory (0x70000003)"; kOutOfMemory or kSystem. Drivers give
// different results for one mistake: nothing is decided by it.
Status failed(ze_result_t result, std::string_view function);

}  // namespace tutti::devices::level_zero

// Leaves the enclosing function with the error, if the call fails.
#define TUTTI_LEVEL_ZERO_CALL(library, function, ...)                      \
  do {                                                                     \
    if (const ze_result_t result_here = (library).function(__VA_ARGS__);   \
        result_here != ZE_RESULT_SUCCESS) {                                \
      return ::tutti::devices::level_zero::failed(result_here, #function); \
    }                                                                      \
  } while (false)
