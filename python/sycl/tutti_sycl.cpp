// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// libtutti_sycl.so. It has no code for devices, so that any compiler makes it where SYCL's headers
// and runtime are (python/sycl/sycl.cmake).
#include "tutti_sycl.h"

#include <level_zero/ze_api.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <sycl/backend.hpp>
#include <sycl/ext/oneapi/backend/level_zero.hpp>
#include <sycl/sycl.hpp>
#include <variant>

namespace {

void fill(const sycl::queue& queue, tutti_queue& native) {
  switch (queue.get_backend()) {
    case sycl::backend::ext_oneapi_level_zero: {
      constexpr auto kBackend = sycl::backend::ext_oneapi_level_zero;
      native.api = TUTTI_DEVICE_LEVEL_ZERO;
      native.context = sycl::get_native<kBackend>(queue.get_context());
      native.device = sycl::get_native<kBackend>(queue.get_device());
      // A command queue, or an immediate command list, as the runtime was told to make them.
      const auto handle = sycl::get_native<kBackend>(queue);
      if (const auto* list = std::get_if<ze_command_list_handle_t>(&handle)) {
        native.queue = *list;
        native.flags = TUTTI_QUEUE_IMMEDIATE;
      } else {
        native.queue = std::get<ze_command_queue_handle_t>(handle);
        native.flags = 0;
      }
      return;
    }
    case sycl::backend::opencl: {
      constexpr auto kBackend = sycl::backend::opencl;
      native.api = TUTTI_DEVICE_OPENCL;
      native.context = sycl::get_native<kBackend>(queue.get_context());
      native.device = sycl::get_native<kBackend>(queue.get_device());
      native.queue = sycl::get_native<kBackend>(queue);
      native.flags = 0;
      return;
    }
    default: throw std::runtime_error("its backend is neither Level Zero nor OpenCL");
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int tutti_sycl_queue(void* queue,
                                                                       tutti_queue* native,
                                                                       char* error, size_t bytes) {
  try {
    fill(*static_cast<sycl::queue*>(queue), *native);
    return 0;
  } catch (const std::exception& why) {
    std::snprintf(error, bytes, "%s", why.what());
    return 1;
  }
}
