// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the tests do with Level Zero, through Debian's loader and its validation layer, in processes
// that the test has forked: the driver reads its switches once.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <level_zero/ze_api.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/processes.hpp"

namespace tutti_test {

struct ZeSwitch {
  std::string name;
  long value;
};
using ZeSwitches = std::vector<ZeSwitch>;

inline void must(ze_result_t result, const char* what) {
  if (result == ZE_RESULT_SUCCESS) return;
  std::ostringstream text;
  text << what << ": 0x" << std::hex << result;
  throw std::runtime_error(text.str());
}
#define ZE_MUST(call) ::tutti_test::must(call, #call)

// Which driver the loader opens, and how that behaves: before zeInit.
inline void choose_test_driver(const ZeSwitches& switches) {
  setenv("ZE_ENABLE_ALT_DRIVERS", TUTTI_TEST_ZE_PATH, 1);
  setenv("ZE_ENABLE_VALIDATION_LAYER", "1", 1);
  setenv("ZE_ENABLE_PARAMETER_VALIDATION", "1", 1);
  for (const auto& [name, value] : switches) {
    setenv(("ZE_TEST_" + name).c_str(), std::to_string(value).c_str(), 1);
  }
}

// Runs it in a process of its own under the test driver.
template <typename Body>
void with_test_driver(const ZeSwitches& switches, const Body& body) {
  run_processes(Processes{}, [&](int) {
    choose_test_driver(switches);
    body();
  });
}

// A function that the driver exports for tests, in the process that has called zeInit.
template <typename Function>
Function* of_test_driver(const char* name) {
  void* library = dlopen(TUTTI_TEST_ZE_PATH, RTLD_NOW | RTLD_NOLOAD);
  return library ? reinterpret_cast<Function*>(dlsym(library, name)) : nullptr;
}
inline int live(const char* kind) {
  return of_test_driver<int(const char*)>("tutti_test_ze_live")(kind);
}
inline int complaints() { return of_test_driver<int()>("tutti_test_ze_complaints")(); }
inline long calls(const char* function) {
  return of_test_driver<long(const char*)>("tutti_test_ze_calls")(function);
}

inline std::vector<uint8_t> read_module(const char* name) {
  std::ifstream file(std::filesystem::path(TUTTI_TEST_ZE_MODULES) / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// A context on a device, which lives as long as the process.
struct ZeClient {
  ze_driver_handle_t driver = nullptr;
  std::vector<ze_device_handle_t> devices;
  ze_device_handle_t device = nullptr;
  ze_context_handle_t context = nullptr;
  ze_event_pool_handle_t pool = nullptr;
  uint32_t events = 0;

  ZeClient() {
    ZE_MUST(zeInit(0));
    uint32_t count = 1;
    ZE_MUST(zeDriverGet(&count, &driver));
    count = 0;
    ZE_MUST(zeDeviceGet(driver, &count, nullptr));
    devices.resize(count);
    ZE_MUST(zeDeviceGet(driver, &count, devices.data()));
    device = devices.front();
    const ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    ZE_MUST(zeContextCreate(driver, &desc, &context));
    const ze_event_pool_desc_t of_pool{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                       ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 16};
    ZE_MUST(zeEventPoolCreate(context, &of_pool, 0, nullptr, &pool));
  }

  template <typename T>
  T* allocate(size_t count, bool on_device) const {
    const ze_device_mem_alloc_desc_t of_device{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0,
                                               0};
    const ze_host_mem_alloc_desc_t of_host{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
    void* at = nullptr;
    if (on_device) {
      ZE_MUST(zeMemAllocDevice(context, &of_device, count * sizeof(T), 64, device, &at));
    } else {
      ZE_MUST(zeMemAllocHost(context, &of_host, count * sizeof(T), 64, &at));
    }
    return static_cast<T*>(at);
  }

  ze_event_handle_t event() {
    const ze_event_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, events++,
                               ZE_EVENT_SCOPE_FLAG_HOST, ZE_EVENT_SCOPE_FLAG_HOST};
    ze_event_handle_t made = nullptr;
    ZE_MUST(zeEventCreate(pool, &desc, &made));
    return made;
  }

  static ze_command_queue_desc_t queue_desc(uint32_t ordinal) {
    return {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
            nullptr,
            ordinal,
            0,
            0,
            ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
            ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  }

  ze_command_list_handle_t immediate(uint32_t ordinal = 0) const {
    const ze_command_queue_desc_t desc = queue_desc(ordinal);
    ze_command_list_handle_t list = nullptr;
    ZE_MUST(zeCommandListCreateImmediate(context, device, &desc, &list));
    return list;
  }

  ze_command_queue_handle_t queue(uint32_t ordinal = 0) const {
    const ze_command_queue_desc_t desc = queue_desc(ordinal);
    ze_command_queue_handle_t made = nullptr;
    ZE_MUST(zeCommandQueueCreate(context, device, &desc, &made));
    return made;
  }

  ze_command_list_handle_t list(uint32_t ordinal = 0) const {
    const ze_command_list_desc_t desc{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, ordinal, 0};
    ze_command_list_handle_t made = nullptr;
    ZE_MUST(zeCommandListCreate(context, device, &desc, &made));
    return made;
  }

  ze_result_t build(const char* name, ze_module_handle_t* made,
                    ze_module_build_log_handle_t* log = nullptr) const {
    const std::vector<uint8_t> spirv = read_module(name);
    const ze_module_desc_t desc{ZE_STRUCTURE_TYPE_MODULE_DESC,
                                nullptr,
                                ZE_MODULE_FORMAT_IL_SPIRV,
                                spirv.size(),
                                spirv.data(),
                                "",
                                nullptr};
    return zeModuleCreate(context, device, &desc, made, log);
  }

  ze_kernel_handle_t kernel(const char* module, const char* name) const {
    ze_module_handle_t built = nullptr;
    must(build(module, &built), "zeModuleCreate");
    const ze_kernel_desc_t desc{ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, name};
    ze_kernel_handle_t made = nullptr;
    ZE_MUST(zeKernelCreate(built, &desc, &made));
    ZE_MUST(zeKernelSetGroupSize(made, 16, 1, 1));
    return made;
  }
};

template <typename T>
void set(ze_kernel_handle_t kernel, uint32_t index, const T& value) {
  ZE_MUST(zeKernelSetArgumentValue(kernel, index, sizeof value, &value));
}

}  // namespace tutti_test
