// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the specification asks of structures that an application hands over.
#pragma once

#include <level_zero/ze_api.h>

#include "support/level_zero/object.hpp"

namespace tutti_test::ze {

template <typename Structure>
inline constexpr ze_structure_type_t kTypeOf = ZE_STRUCTURE_TYPE_FORCE_UINT32;

#define TUTTI_ZE_STRUCTURE(structure, type) \
  template <>                               \
  inline constexpr ze_structure_type_t kTypeOf<structure> = ZE_STRUCTURE_TYPE_##type;
TUTTI_ZE_STRUCTURE(ze_driver_properties_t, DRIVER_PROPERTIES)
TUTTI_ZE_STRUCTURE(ze_driver_ipc_properties_t, DRIVER_IPC_PROPERTIES)
TUTTI_ZE_STRUCTURE(ze_device_properties_t, DEVICE_PROPERTIES)
TUTTI_ZE_STRUCTURE(ze_device_compute_properties_t, DEVICE_COMPUTE_PROPERTIES)
TUTTI_ZE_STRUCTURE(ze_device_module_properties_t, DEVICE_MODULE_PROPERTIES)
TUTTI_ZE_STRUCTURE(ze_device_memory_properties_t, DEVICE_MEMORY_PROPERTIES)
TUTTI_ZE_STRUCTURE(ze_device_memory_access_properties_t, DEVICE_MEMORY_ACCESS_PROPERTIES)
TUTTI_ZE_STRUCTURE(ze_device_p2p_properties_t, DEVICE_P2P_PROPERTIES)
TUTTI_ZE_STRUCTURE(ze_pci_ext_properties_t, PCI_EXT_PROPERTIES)
TUTTI_ZE_STRUCTURE(ze_command_queue_group_properties_t, COMMAND_QUEUE_GROUP_PROPERTIES)
TUTTI_ZE_STRUCTURE(ze_memory_allocation_properties_t, MEMORY_ALLOCATION_PROPERTIES)
TUTTI_ZE_STRUCTURE(ze_module_properties_t, MODULE_PROPERTIES)
TUTTI_ZE_STRUCTURE(ze_kernel_properties_t, KERNEL_PROPERTIES)
TUTTI_ZE_STRUCTURE(ze_context_desc_t, CONTEXT_DESC)
TUTTI_ZE_STRUCTURE(ze_command_queue_desc_t, COMMAND_QUEUE_DESC)
TUTTI_ZE_STRUCTURE(ze_command_list_desc_t, COMMAND_LIST_DESC)
TUTTI_ZE_STRUCTURE(ze_event_pool_desc_t, EVENT_POOL_DESC)
TUTTI_ZE_STRUCTURE(ze_event_desc_t, EVENT_DESC)
TUTTI_ZE_STRUCTURE(ze_fence_desc_t, FENCE_DESC)
TUTTI_ZE_STRUCTURE(ze_device_mem_alloc_desc_t, DEVICE_MEM_ALLOC_DESC)
TUTTI_ZE_STRUCTURE(ze_host_mem_alloc_desc_t, HOST_MEM_ALLOC_DESC)
TUTTI_ZE_STRUCTURE(ze_module_desc_t, MODULE_DESC)
TUTTI_ZE_STRUCTURE(ze_kernel_desc_t, KERNEL_DESC)
#undef TUTTI_ZE_STRUCTURE

// That it says what it is, and links none that this driver does not know.
template <typename Structure>
void check_structure(const Structure* structure) {
  require(structure != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no structure");
  require(structure->stype == kTypeOf<Structure>, ZE_RESULT_ERROR_INVALID_ENUMERATION,
          "the structure does not say what it is");
  require(structure->pNext == nullptr, ZE_RESULT_ERROR_INVALID_ARGUMENT,
          "the structure is linked to one that nobody knows");
}

}  // namespace tutti_test::ze
