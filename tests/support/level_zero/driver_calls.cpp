// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// zeInit, zeDriver*, zeContext*.
#include <cstring>

#include "support/level_zero/calls.hpp"
#include "support/level_zero/device.hpp"
#include "support/level_zero/entry.hpp"
#include "support/level_zero/switches.hpp"

namespace tutti_test::ze {

namespace {

ze_result_t init(ze_init_flags_t) {
  return switches().fail_init ? ZE_RESULT_ERROR_UNINITIALIZED : ZE_RESULT_SUCCESS;
}

ze_result_t get_drivers(uint32_t* count, ze_driver_handle_t* drivers) {
  const uint32_t others = switches().other_driver ? 1 : 0;
  return_list(1 + others, count, drivers, [&](ze_driver_handle_t& one, uint32_t i) {
    one = i < others ? &other_driver() : &the_driver();
  });
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_version(ze_driver_handle_t, ze_api_version_t* version) {
  require(version != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no place for the version");
  *version = ZE_API_VERSION_CURRENT;
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_properties(ze_driver_handle_t, ze_driver_properties_t* properties) {
  ze_driver_properties_t made{};
  std::memcpy(made.uuid.id, "tutti test drive", sizeof made.uuid.id);
  made.driverVersion = 1;
  return_properties(properties, made);
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_ipc_properties(ze_driver_handle_t, ze_driver_ipc_properties_t* properties) {
  require_full("nothing is told of handles");
  ze_driver_ipc_properties_t made{};
  made.flags = ZE_IPC_PROPERTY_FLAG_MEMORY | ZE_IPC_PROPERTY_FLAG_EVENT_POOL;
  return_properties(properties, made);
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_extensions(ze_driver_handle_t, uint32_t* count,
                           ze_driver_extension_properties_t* extensions) {
  return_list(0, count, extensions, [](ze_driver_extension_properties_t&, uint32_t) {});
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_extension_function(ze_driver_handle_t, const char*, void**) {
  return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

ze_result_t create_context(ze_driver_handle_t, const ze_context_desc_t* desc,
                           ze_context_handle_t* context) {
  require(desc && context, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no description, or no place");
  check_structure(desc);
  *context = new _ze_context_handle_t;
  return ZE_RESULT_SUCCESS;
}

ze_result_t create_context_of(ze_driver_handle_t driver, const ze_context_desc_t* desc, uint32_t,
                              ze_device_handle_t*, ze_context_handle_t* context) {
  return create_context(driver, desc, context);
}

ze_result_t destroy_context(ze_context_handle_t context) {
  delete context;
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_context_status(ze_context_handle_t) { return ZE_RESULT_SUCCESS; }
ze_result_t system_barrier(ze_context_handle_t, ze_device_handle_t) { return ZE_RESULT_SUCCESS; }
ze_result_t make_resident(ze_context_handle_t, ze_device_handle_t, void*, size_t) {
  return ZE_RESULT_SUCCESS;
}

}  // namespace

void fill(ze_global_dditable_t* table) { table->pfnInit = entry<init>("zeInit"); }

void fill(ze_driver_dditable_t* table) {
  table->pfnGet = entry<get_drivers>("zeDriverGet");
  table->pfnGetApiVersion = entry<get_version>("zeDriverGetApiVersion");
  table->pfnGetProperties = entry<get_properties>("zeDriverGetProperties");
  table->pfnGetIpcProperties = entry<get_ipc_properties>("zeDriverGetIpcProperties");
  table->pfnGetExtensionProperties = entry<get_extensions>("zeDriverGetExtensionProperties");
  table->pfnGetExtensionFunctionAddress =
      entry<get_extension_function>("zeDriverGetExtensionFunctionAddress");
}

void fill(ze_context_dditable_t* table) {
  table->pfnCreate = entry<create_context>("zeContextCreate");
  table->pfnCreateEx = entry<create_context_of>("zeContextCreateEx");
  table->pfnDestroy = entry<destroy_context>("zeContextDestroy");
  table->pfnGetStatus = entry<get_context_status>("zeContextGetStatus");
  table->pfnSystemBarrier = entry<system_barrier>("zeContextSystemBarrier");
  table->pfnMakeMemoryResident = entry<make_resident>("zeContextMakeMemoryResident");
  table->pfnEvictMemory = entry<make_resident>("zeContextEvictMemory");
}

}  // namespace tutti_test::ze
