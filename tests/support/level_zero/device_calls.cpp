// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// zeDevice*: what the devices say of themselves.
#include <chrono>
#include <cstdio>
#include <cstring>

#include "support/level_zero/calls.hpp"
#include "support/level_zero/device.hpp"
#include "support/level_zero/entry.hpp"
#include "support/level_zero/switches.hpp"

namespace tutti_test::ze {

namespace {

ze_result_t get_devices(ze_driver_handle_t driver, uint32_t* count, ze_device_handle_t* devices) {
  return_list(static_cast<uint32_t>(driver->devices.size()), count, devices,
              [&](ze_device_handle_t& one, uint32_t i) { one = driver->devices[i].get(); });
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_subdevices(ze_device_handle_t device, uint32_t* count,
                           ze_device_handle_t* devices) {
  if (device->tiles.empty()) require_full("there are no tiles");
  return_list(static_cast<uint32_t>(device->tiles.size()), count, devices,
              [&](ze_device_handle_t& one, uint32_t i) { one = device->tiles[i].get(); });
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_properties(ze_device_handle_t device, ze_device_properties_t* properties) {
  ze_device_properties_t made{};
  made.type = device->type;
  made.vendorId = 0x7474;
  made.deviceId = 1;
  if (device->tile >= 0) {
    made.flags = ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE;
    made.subdeviceId = static_cast<uint32_t>(device->tile);
  }
  made.maxMemAllocSize = memory_of_device();
  made.maxHardwareContexts = 64;
  made.numThreadsPerEU = 1;
  made.physicalEUSimdWidth = 8;
  made.numEUsPerSubslice = made.numSubslicesPerSlice = made.numSlices = 1;
  made.timerResolution = 1000000000;
  made.timestampValidBits = made.kernelTimestampValidBits = 64;
  std::memcpy(made.uuid.id, "tutti device", 12);
  made.uuid.id[13] = static_cast<uint8_t>(device->type);
  made.uuid.id[14] = static_cast<uint8_t>(device->card);
  made.uuid.id[15] = static_cast<uint8_t>(device->tile + 1);
  std::snprintf(made.name, sizeof made.name, "Tutti test device");
  return_properties(properties, made);
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_compute(ze_device_handle_t, ze_device_compute_properties_t* properties) {
  ze_device_compute_properties_t made{};
  made.maxTotalGroupSize = kMostItemsInGroup;
  made.maxGroupSizeX = made.maxGroupSizeY = made.maxGroupSizeZ = kMostItemsInGroup;
  made.maxGroupCountX = made.maxGroupCountY = made.maxGroupCountZ =
      static_cast<uint32_t>(switches().most_groups);
  made.maxSharedLocalMemory = 65536;
  made.numSubGroupSizes = 1;
  made.subGroupSizes[0] = 1;
  return_properties(properties, made);
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_module(ze_device_handle_t, ze_device_module_properties_t* properties) {
  constexpr ze_device_fp_flags_t kFloats = ZE_DEVICE_FP_FLAG_DENORM | ZE_DEVICE_FP_FLAG_INF_NAN |
                                           ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST |
                                           ZE_DEVICE_FP_FLAG_FMA;
  ze_device_module_properties_t made{};
  made.spirvVersionSupported = ZE_MAKE_VERSION(1, 0);
  made.fp32flags = kFloats;
  if (!switches().no_fp64) {
    made.flags = ZE_DEVICE_MODULE_FLAG_FP64;
    made.fp64flags = kFloats;
  }
  made.maxArgumentsSize = 1024;
  return_properties(properties, made);
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_queue_groups(ze_device_handle_t, uint32_t* count,
                             ze_command_queue_group_properties_t* groups) {
  return_list(queue_groups(), count, groups,
              [](ze_command_queue_group_properties_t& group, uint32_t ordinal) {
                ze_command_queue_group_properties_t made{};
                if (group_copies(ordinal)) made.flags |= ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
                if (ordinal == compute_group()) {
                  made.flags |= ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE;
                }
                made.maxMemoryFillPatternSize = ordinal == compute_group() ? 128 : 1;
                made.numQueues = queues_of_group();
                return_properties(&group, made);
              });
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_memories(ze_device_handle_t, uint32_t* count,
                         ze_device_memory_properties_t* memories) {
  require_full("nothing is told of memories");
  return_list(1, count, memories, [](ze_device_memory_properties_t& memory, uint32_t) {
    ze_device_memory_properties_t made{};
    made.totalSize = memory_of_device();
    std::snprintf(made.name, sizeof made.name, "memfd");
    return_properties(&memory, made);
  });
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_access(ze_device_handle_t, ze_device_memory_access_properties_t* properties) {
  ze_device_memory_access_properties_t made{};
  made.hostAllocCapabilities = made.deviceAllocCapabilities =
      made.sharedSingleDeviceAllocCapabilities = made.sharedCrossDeviceAllocCapabilities =
          ZE_MEMORY_ACCESS_CAP_FLAG_RW;
  return_properties(properties, made);
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_p2p(ze_device_handle_t device, ze_device_handle_t peer,
                    ze_device_p2p_properties_t* properties) {
  require(peer != nullptr, ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "no peer");
  ze_device_p2p_properties_t made{};
  if (reaches(*device, *peer)) made.flags = ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS;
  return_properties(properties, made);
  return ZE_RESULT_SUCCESS;
}

ze_result_t can_access(ze_device_handle_t device, ze_device_handle_t peer, ze_bool_t* value) {
  require(peer != nullptr, ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "no peer");
  require(value != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no place for the answer");
  *value = reaches(*device, *peer);
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_status(ze_device_handle_t) { return ZE_RESULT_SUCCESS; }

ze_result_t get_timestamps(ze_device_handle_t, uint64_t* host, uint64_t* device) {
  require(host && device, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no place for the times");
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  *host = *device = static_cast<uint64_t>(std::chrono::nanoseconds(now).count());
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_pci(ze_device_handle_t device, ze_pci_ext_properties_t* properties) {
  ze_pci_ext_properties_t made{};
  made.address.bus = static_cast<uint32_t>(device->card + 1);
  return_properties(properties, made);
  return ZE_RESULT_SUCCESS;
}

}  // namespace

void fill(ze_device_dditable_t* table) {
  table->pfnGet = entry<get_devices>("zeDeviceGet");
  table->pfnGetSubDevices = entry<get_subdevices>("zeDeviceGetSubDevices");
  table->pfnGetProperties = entry<get_properties>("zeDeviceGetProperties");
  table->pfnGetComputeProperties = entry<get_compute>("zeDeviceGetComputeProperties");
  table->pfnGetModuleProperties = entry<get_module>("zeDeviceGetModuleProperties");
  table->pfnGetCommandQueueGroupProperties =
      entry<get_queue_groups>("zeDeviceGetCommandQueueGroupProperties");
  table->pfnGetMemoryProperties = entry<get_memories>("zeDeviceGetMemoryProperties");
  table->pfnGetMemoryAccessProperties = entry<get_access>("zeDeviceGetMemoryAccessProperties");
  table->pfnGetP2PProperties = entry<get_p2p>("zeDeviceGetP2PProperties");
  table->pfnCanAccessPeer = entry<can_access>("zeDeviceCanAccessPeer");
  table->pfnGetStatus = entry<get_status>("zeDeviceGetStatus");
  table->pfnGetGlobalTimestamps = entry<get_timestamps>("zeDeviceGetGlobalTimestamps");
  table->pfnPciGetPropertiesExt = entry<get_pci>("zeDevicePciGetPropertiesExt");
}

}  // namespace tutti_test::ze
